/** Preloaded into a program: kills it with SIGKILL at event KILL_AT, before or after a request or a commit. */
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
