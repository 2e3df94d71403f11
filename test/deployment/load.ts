/** A small, steady load on processes of the service until it is stopped: every call must succeed. */
import { setTimeout as delay } from 'node:timers/promises';

type Called = { status: number; body: any };

export class Load {
  /** The processes to call, in turn: each record is created at one and read at the next. */
  urls: readonly string[];
  readonly failures: string[] = [];
  calls = 0;
  rounds = 0;
  readonly #keys: readonly string[];
  readonly #ended: Promise<void>;
  #isOver = false;

  constructor(urls: readonly string[], keys: readonly string[]) {
    this.urls = urls;
    this.#keys = keys;
    this.#ended = this.#run();
  }

  /** Waits until this many rounds have started and finished from now on. */
  async more(rounds: number): Promise<void> {
    const last = this.rounds + rounds + 1;
    while (this.rounds < last && this.failures.length === 0) await delay(20);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  /** About 20 calls a second: each key may make 100 a minute at each process. */
  async #run(): Promise<void> {
    while (!this.#isOver) {
      const at = performance.now();
      await this.#round().catch((error: unknown) => this.failures.push(String(error)));
      this.rounds += 1;
      await delay(Math.max(0, 300 - (performance.now() - at)));
    }
  }

  async #round(): Promise<void> {
    const [number, { urls }] = [this.rounds, this];
    const [here = '', there = here] = [urls[number % urls.length], urls[(number + 1) % urls.length]];
    const made = await this.#call(here, 'POST', '/customers', 201, { name: `Load ${number}`, tags: ['load'] });
    const got = await this.#call(there, 'GET', `/customers/${made.id}`, 200);
    const changed = await this.#call(there, 'PATCH', `/customers/${made.id}`, 200, { notes: `Round ${number}` });
    const found = await this.#call(here, 'GET', `/customers?ids=${made.id}&q=load`, 200);
    await this.#call(there, 'POST', '/items', 201, { type: 'service', name: `Load ${number}`, unitPrice: '8.50' });
    await this.#call(here, 'GET', '/proposals?status=accepted', 200);
    const [expected, seen] = [
      [made, changed],
      [got, ...found.data],
    ].map((records) => JSON.stringify(records));
    if (expected !== seen) this.failures.push(`${expected} became ${seen}`);
  }

  async #call(url: string, method: string, path: string, status: number, body?: object): Promise<Called['body']> {
    this.calls += 1;
    const authorization = `Bearer ${this.#keys[this.calls % this.#keys.length]}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const response = await fetch(`${url}/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }
}
