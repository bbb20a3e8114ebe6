/** Ends the process and what it started, as far as that stayed in its group. Windows has no groups. */
export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // nothing of it is left
  }
}
