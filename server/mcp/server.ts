/** The Model Context Protocol server: the official SDK around the tools, a new instance for each request. */
import { createMcpHandler, McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { maximumErrors } from '../../contract/limits.ts';
import { describeErrors } from '../../contract/problems/sentences.ts';
import { toProblem } from '../problems/translate.ts';
import { Problem } from '../problems/problem.ts';
import { ArgumentError, requireForm } from './arguments.ts';
import type { JsonSchema } from './schema.ts';
import type { Arguments, Calling, Tool } from './tool.ts';

type ToolResult = { content: { type: 'text'; text: string }[]; isError?: boolean };

const instructions =
  'Customers, proposals and catalog items of one organization. Times are UTC; money is a decimal string with its currency. Proposals are read-only. Items cannot be changed once created.';

export type McpOptions = {
  version: string;
  tools: readonly Tool[];
  /** Takes an allowance for a tool call. Problems: rate_limited. */
  begin: () => Promise<Calling>;
  /** Called when a tool has ended, with the problem if it failed; the result may be sent once this resolves. */
  onEnd: (problem?: Problem) => Promise<void> | undefined;
};

/** Handles one HTTP request, whose body is already parsed; `begin` knows the caller. */
export async function handleMcp(request: Request, parsedBody: unknown, options: McpOptions): Promise<Response> {
  // Nothing here changes while a client is connected.
  const handler = createMcpHandler(() => createServer(options), { maxSubscriptions: 0 });
  return handler.fetch(request, { parsedBody });
}

function createServer({ version, ...options }: McpOptions): McpServer {
  const mcp = new McpServer(
    { name: 'proposal-api', title: 'Proposal API', version },
    { capabilities: { tools: { listChanged: false } }, instructions },
  );
  // Not `registerTool`, which requires Zod schemas: these are shorter than what Zod would print.
  mcp.server.setRequestHandler('tools/list', ({ params }) => {
    if (params?.cursor !== undefined) throw invalidParams('There is only one page of tools. Leave out cursor.');
    return { tools: options.tools.map(listed) };
  });
  mcp.server.setRequestHandler('tools/call', ({ params }) =>
    callTool(toolNamed(params.name, options.tools), params.arguments ?? {}, options),
  );
  return mcp;
}

type InputSchema = JsonSchema & { type: 'object' };

/** Results are only text: with an output schema, each would be sent twice. */
const listed = ({ run: _run, properties, required, definitions, ...tool }: Tool) => {
  const named = { ...(required && { required }), ...(definitions && { $defs: definitions }) };
  const inputSchema: InputSchema = { type: 'object', properties, ...named, additionalProperties: false };
  return { ...tool, inputSchema };
};

const invalidParams = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

function toolNamed(name: string, tools: readonly Tool[]): Tool {
  const tool = tools.find((one) => one.name === name);
  if (tool) return tool;
  const known = tools.map((one) => one.name).join(', ');
  throw invalidParams(`There is no tool "${name.slice(0, 60)}". Tools: ${known}.`);
}

async function callTool(
  tool: Tool,
  input: Arguments,
  { begin, onEnd }: Pick<McpOptions, 'begin' | 'onEnd'>,
): Promise<ToolResult> {
  try {
    const calling = await begin();
    requireArguments(tool, input);
    const result = await tool.run(input, calling);
    await onEnd();
    return { content: [{ type: 'text', text: JSON.stringify(result) }] };
  } catch (error) {
    const problem =
      error instanceof ArgumentError ? new Problem('validation_failed', { errors: [] }) : toProblem(error);
    await onEnd(problem);
    return failed(error instanceof ArgumentError ? error.message : explain(problem));
  }
}

function requireArguments(tool: Tool, input: Arguments): void {
  const known = Object.keys(tool.properties);
  const unknown = Object.keys(input).filter((argument) => !known.includes(argument));
  if (unknown.length > 0) {
    const names = unknown.slice(0, maximumErrors).map((argument) => `"${argument.slice(0, 60)}"`);
    const help = known.length > 0 ? ` Arguments: ${known.join(', ')}.` : ' It takes no arguments.';
    throw new ArgumentError(`${tool.name} has no argument ${names.join(', ')}.${help}`);
  }
  // The arguments of a write are the fields of its record, which its operation checks.
  if (tool.annotations.readOnlyHint) requireForm(tool, input);
}

const failed = (text: string): ToolResult => ({ isError: true, content: [{ type: 'text', text }] });

/** `validation_failed: email must be one email address. Did you mean …?` All errors are in the text: nothing else is. */
function explain(problem: Problem): string {
  const { code, errors } = problem;
  const message = errors.length > 1 ? describeErrors({ errors }, errors.length) : problem.message;
  const { existingId } = problem.body('', '');
  const existing = existingId === undefined ? '' : ` It is ${existingId}.`;
  return `${code}: ${message}${existing}`;
}
