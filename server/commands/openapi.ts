import { pipeline } from 'node:stream/promises';
import { openApiDocument } from '../../contract/openapi/openapi.ts';
import { readConfig } from '../config.ts';
import type { Declare } from './command.ts';
import { writeFile } from './output-file.ts';
import { printJson } from './terminal.ts';

export const declare: Declare = (command) =>
  command
    .description(
      `Prints the OpenAPI 3.1 document served at /openapi.json. It needs no database. If PUBLIC_URL is set, it is the URL
under "servers".`,
    )
    .option('--output <FILE>', 'write the document to a file')
    .action(async ({ output }) => {
      const { PUBLIC_URL, PORT } = readConfig();
      const document = openApiDocument(PUBLIC_URL ?? `http://localhost:${PORT}`);
      if (output === undefined) return printJson(document);
      await writeFile(output, (file) => pipeline([`${JSON.stringify(document, undefined, 2)}\n`], file));
    });
