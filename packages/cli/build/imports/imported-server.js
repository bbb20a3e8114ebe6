export {};
//# sourceMappingURL=imported-server.js.map
