/** HTTP as text, for requests that no client would send. */
import { connect } from 'node:net';

/** Sends the pieces unchanged, and returns everything received until the server closes. */
export async function exchange(url: string, ...pieces: string[]): Promise<string> {
  const { port } = new URL(url);
  return await new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      for (const piece of pieces) socket.write(piece);
    });
    let received = '';
    socket.on('data', (chunk) => (received += String(chunk)));
    socket.on('end', () => resolve(received));
    socket.on('error', reject);
  });
}

/** The body of the last of the received responses: JSON. */
export const lastBody = (received: string): any => JSON.parse(received.slice(received.lastIndexOf('\r\n\r\n') + 4));
