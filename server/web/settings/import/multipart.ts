/** Forms with a file. The fields come before the file, so that the session guard checks them before the file is received. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import type { BusboyHeaders } from '@fastify/busboy';
import type { Request, RequestHandler, Response } from 'express';
import { Problem } from '../../../problems/problem.ts';
import { slowRequests } from '../../../limits/slow-requests.ts';
import { uploadBounds } from '../../../uploads/files.ts';
import { interrupted } from '../../../uploads/runner.ts';

/** `isCut`: whether the form ended in the middle of the file. */
export type ReceivedFile = { name: string; stream: Readable; isTooLarge: () => boolean; isCut: () => boolean };

const timeouts = { idleMs: 30_000, wholeMs: 15 * 60_000 };

const received = new WeakMap<IncomingMessage, ReceivedFile>();
/** The form's file, unread; undefined if none was chosen. */
export const receivedFile = (request: IncomingMessage): ReceivedFile | undefined => received.get(request);

const parts = { fieldNameSize: 100, fieldSize: 16_384, fields: 20, files: 1, parts: 30, headerPairs: 20 };
const limits = { ...parts, fileSize: uploadBounds.bytes };

/** Reads the fields up to the file. */
export const readUploadForm: RequestHandler = async (request, response, next) => {
  if (!request.is('multipart/form-data')) return next();
  try {
    request.body = await fieldsUpToFile(request, response);
  } catch (cause) {
    const sentence = 'The form could not be read. Reload the page and try again.';
    throw new Problem('unreadable', { sentence }, { cause });
  }
  next();
};

function fieldsUpToFile(request: Request, response: Response): Promise<Record<string, string>> {
  // Field names are arbitrary, so there is no prototype for them to clash with.
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  // Express has checked that there is a content type.
  const form = new Busboy({ headers: request.headers as BusboyHeaders, limits });
  form.on('field', (name, value) => (fields[name] = value));
  return new Promise((resolve, reject) => {
    form.on('file', (name, stream, fileName) => {
      let isCut = false;
      stream.on('error', () => (isCut = true));
      if (name !== 'file' || !fileName) {
        stream.resume();
        return;
      }
      // Once there is a response, the rest of the body is drained, so that the browser gets to see the response.
      response.once('finish', () => stream.resume());
      request.once('close', () => {
        if (!request.complete) stream.destroy();
      });
      received.set(request, {
        name: fileName,
        stream,
        isTooLarge: () => stream.truncated ?? false,
        isCut: () => isCut,
      });
      resolve(fields);
    });
    form.on('finish', () => resolve(fields));
    form.on('error', reject);
    form.on('partsLimit', () => {
      // Millions of parts would keep the process busy: the rest is drained unread.
      request.unpipe(form).resume();
      reject(new Error('The form has too many parts.'));
    });
    request.pipe(form);
  });
}

/** The file's bytes. The sender has been admitted, and gets more time than others while bytes arrive. */
export async function* bytesOf(request: IncomingMessage, { stream, isCut }: ReceivedFile): AsyncGenerator<Buffer> {
  slowRequests.add(request);
  const end = () => void request.destroy();
  const whole = setTimeout(end, timeouts.wholeMs);
  let idle = setTimeout(end, timeouts.idleMs);
  try {
    for await (const chunk of stream) {
      clearTimeout(idle);
      yield chunk as Buffer;
      idle = setTimeout(end, timeouts.idleMs);
    }
  } catch (error) {
    throw isCut() ? interrupted() : error;
  } finally {
    clearTimeout(whole);
    clearTimeout(idle);
  }
  // It may have been cut off before it was read.
  if (isCut()) throw interrupted();
}
