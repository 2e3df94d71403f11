/** Loaded before a program: kills it with SIGKILL around its requests and its commits, at the event of this number. */
import { DatabaseSync } from 'node:sqlite';

let events = 0;
const event = () => {
  events += 1;
  if (events === Number(process.env.KILL_AT)) process.kill(process.pid, 'SIGKILL');
};

const request = globalThis.fetch;
globalThis.fetch = async (...words) => {
  event();
  const response = await request(...words);
  await response.clone().text();
  event();
  return response;
};

const execute = Reflect.get(DatabaseSync.prototype, 'exec');
Reflect.set(DatabaseSync.prototype, 'exec', function exec(this: DatabaseSync, text: string) {
  if (text === 'commit') event();
  Reflect.apply(execute, this, [text]);
  if (text === 'commit') event();
});
