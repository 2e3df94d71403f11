/** What a request needs beyond the values of its fields. */
import { NodeApiError } from 'n8n-workflow';
import type {
  IDataObject,
  IExecuteSingleFunctions,
  IHttpRequestOptions,
  IN8nHttpFullResponse,
  INode,
  INodeExecutionData,
  JsonObject,
} from 'n8n-workflow';

/** The query of each page: the list's, and the cursor of the previous page. n8n's types allow no expression here. */
export const nextPage =
  '={{ Object.assign({}, $request.qs, { cursor: $response.body?.pagination?.nextCursor ?? "" }) }}' as unknown as IDataObject;

/** Sets the fields to clear to null: `address.city` clears that part of the address. */
export async function clearFields(
  this: IExecuteSingleFunctions,
  options: IHttpRequestOptions,
): Promise<IHttpRequestOptions> {
  const body = options.body as Record<string, unknown>;
  for (const name of this.getNodeParameter('updateFields.clear', []) as string[]) {
    const [outer, inner] = name.split('.');
    body[outer] = inner === undefined ? null : { ...Object(body[outer]), [inner]: null };
  }
  return options;
}

/** A failure in the API's own words. */
export function failure(node: INode, { statusCode, body }: IN8nHttpFullResponse): NodeApiError {
  const { title, detail } = Object(body) as { title?: string; detail?: string };
  const message = title ?? `The service responded with status ${statusCode}`;
  const description = detail ?? message;
  return new NodeApiError(node, Object(body) as JsonObject, { message, description, httpCode: String(statusCode) });
}

/** Reports a failure. The node tells n8n to leave failures to this function. */
export async function explain(
  this: IExecuteSingleFunctions,
  items: INodeExecutionData[],
  response: IN8nHttpFullResponse,
): Promise<INodeExecutionData[]> {
  if (response.statusCode < 400) return items;
  throw failure(this.getNode(), response);
}
