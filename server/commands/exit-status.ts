/** Ends a command that has printed all there is to say with another exit status than 0. */
export class ExitStatus extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`exit status ${status}`);
    this.status = status;
  }
}
