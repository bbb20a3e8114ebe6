export { HttpServer } from './http/http-server.js';
