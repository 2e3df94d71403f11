import { writeFile } from 'node:fs/promises';
import { openApiDocument } from '../../contract/openapi/openapi.ts';
import { readConfig, UsageError } from '../config.ts';
import type { Command } from './command.ts';
import { readWords } from './command.ts';
import { sayJson } from './terminal.ts';

export const openapiCommand: Command = {
  help: `
Usage: npx proposal-api openapi [--output FILE]

Prints the OpenAPI 3.1 document that the server has at /openapi.json, or writes it to FILE. It needs no database.
If PUBLIC_URL is set, it is the URL under "servers" in it.
`,
  async run(words) {
    const { values } = readWords(words, { output: { type: 'string' } });
    const { PUBLIC_URL, PORT } = readConfig();
    const document = openApiDocument(PUBLIC_URL?.replace(/(?<!\/)\/+$/, '') ?? `http://localhost:${PORT}`);
    if (values.output === undefined) {
      sayJson(document);
      return 0;
    }
    try {
      await writeFile(values.output, `${JSON.stringify(document, undefined, 2)}\n`);
    } catch (error) {
      throw new UsageError(`cannot write ${values.output}: ${error instanceof Error ? error.message : String(error)}`);
    }
    return 0;
  },
};
