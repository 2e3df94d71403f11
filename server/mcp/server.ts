/** The Model Context Protocol server: the official SDK around the tools, a new instance for each request. */
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { toProblem } from '../problems/translate.ts';
import type { Problem } from '../problems/problem.ts';
import { ArgumentError } from './result.ts';
import { tools } from './tools.ts';
import type { Arguments, CallOperation } from './tools.ts';

type ToolResult = {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
};

const instructions =
  'Customers, proposals and catalog items of one organization. Times are UTC, money is a decimal string with its currency. Proposals are read-only.';

const listed = tools.map(({ name, title, description, inputSchema, outputSchema, annotations }) => ({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}));

export type McpOptions = { version: string; call: CallOperation; onFailure: (error: unknown) => void };

/** Handles one HTTP request, whose body is already parsed; the caller is in `call`. */
export async function handleMcp(request: Request, parsedBody: unknown, options: McpOptions): Promise<Response> {
  const handler = createMcpHandler(() => createServer(options), {
    // Nothing here changes while a client is connected.
    maxSubscriptions: 0,
  });
  return handler.fetch(request, { parsedBody });
}

function createServer({ version, ...options }: McpOptions): McpServer {
  const mcp = new McpServer(
    { name: 'proposal-api', title: 'Proposal API', version },
    { capabilities: { tools: {} }, instructions },
  );
  // Not `registerTool`, which requires Zod schemas: these are shorter than what Zod would print.
  mcp.server.setRequestHandler('tools/list', () => ({ tools: listed }));
  mcp.server.setRequestHandler('tools/call', ({ params }) => callTool(params.name, params.arguments ?? {}, options));
  return mcp;
}

async function callTool(
  name: string,
  input: Arguments,
  { call, onFailure }: Pick<McpOptions, 'call' | 'onFailure'>,
): Promise<ToolResult> {
  const tool = tools.find((one) => one.name === name);
  if (!tool)
    return failed(`There is no tool "${name.slice(0, 60)}". Tools: ${tools.map((one) => one.name).join(', ')}.`);
  const known = Object.keys(Object(tool.inputSchema.properties));
  const unknown = Object.keys(input).find((argument) => !known.includes(argument));
  if (unknown !== undefined)
    return failed(`${name} has no argument "${unknown.slice(0, 60)}". Arguments: ${known.join(', ')}.`);
  try {
    const result = await tool.run(input, call);
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
  } catch (error) {
    if (error instanceof ArgumentError) return failed(error.message);
    const problem = toProblem(error);
    if (problem.status >= 500) onFailure(problem.cause ?? error);
    return failed(explain(problem));
  }
}

const failed = (text: string): ToolResult => ({ isError: true, content: [{ type: 'text', text }] });

/** `validation_failed: email must be one e-mail address. Did you mean …?` */
function explain(problem: Problem): string {
  const { code, message, errors } = problem;
  const { existingId } = problem.body('', '');
  const suggestions = errors.flatMap(({ field, suggestion }) =>
    suggestion === undefined || message.includes(suggestion) ? [] : [` For ${field}, did you mean "${suggestion}"?`],
  );
  const existing = existingId === undefined || message.includes(existingId) ? '' : ` It is ${existingId}.`;
  return `${code}: ${message}${existing}${suggestions.join('')}`;
}
