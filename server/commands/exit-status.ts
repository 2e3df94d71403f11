/** Ends a command with a nonzero exit status after it has printed everything itself. */
export class ExitStatus extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`exit status ${status}`);
    this.status = status;
  }
}
