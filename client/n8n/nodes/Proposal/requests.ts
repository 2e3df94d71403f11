/** What a request needs beyond the values of its fields. */
import { NodeApiError } from 'n8n-workflow';
import type {
  IDataObject,
  IExecuteSingleFunctions,
  IHttpRequestOptions,
  IN8nHttpFullResponse,
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

/** Reports a failure in the API's own words. The node tells n8n to leave failures to this function. */
export async function explain(
  this: IExecuteSingleFunctions,
  items: INodeExecutionData[],
  { statusCode, body }: IN8nHttpFullResponse,
): Promise<INodeExecutionData[]> {
  if (statusCode < 400) return items;
  const { title, detail } = Object(body) as { title?: string; detail?: string };
  const message = title ?? `The service responded with status ${statusCode}`;
  throw new NodeApiError(this.getNode(), Object(body) as JsonObject, {
    message,
    description: detail ?? message,
    httpCode: String(statusCode),
  });
}
