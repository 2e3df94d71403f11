/** Parameters and responses that several operations share become components, so each is written only once. */
import { mapValues, pickReferenced } from './document.ts';
import type { Document, Operation, Parameter, Reference, Response } from './document.ts';

type SharedComponents = { parameters: Record<string, Parameter>; responses: Record<string, Response> };
type SharedOperation = Omit<Operation, 'parameters' | 'responses'> & {
  parameters: (Parameter | Reference)[];
  responses: Record<string, Response | Reference>;
};
export type PublishedDocument = Omit<Document, 'paths' | 'components'> & {
  paths: Record<string, Record<string, SharedOperation>>;
  components: Document['components'] & SharedComponents;
};

/** The component name of each status. */
const statusNames: Record<string, string> = {
  304: 'NotModified',
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  408: 'RequestTimeout',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
  422: 'UnprocessableContent',
  429: 'TooManyRequests',
  431: 'HeadersTooLarge',
  500: 'InternalError',
  501: 'NotImplemented',
  503: 'Unavailable',
};

type Use<T> = { name: string; value: T };

export function shareComponents(document: Document): PublishedDocument {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const parameters = sharedValues(operations.flatMap((operation) => operation.parameters.map(parameterUse)));
  const responses = sharedValues(
    operations.flatMap((operation) =>
      Object.entries(operation.responses).flatMap(([status, value]) =>
        responseNames(operation, status).map((name) => ({ name, value })),
      ),
    ),
  );
  const share = (operation: Operation): SharedOperation => ({
    ...operation,
    parameters: operation.parameters.map((parameter) => {
      const { name } = parameterUse(parameter);
      return parameters[name] ? { $ref: `#/components/parameters/${name}` } : parameter;
    }),
    responses: mapValues(operation.responses, (response, status) => {
      const name = responseNames(operation, status).find((one) => responses[one]);
      return name === undefined ? response : { $ref: `#/components/responses/${name}` };
    }),
  });
  const paths = mapValues(document.paths, (methods) => mapValues(methods, share));
  return {
    ...document,
    paths,
    components: { ...document.components, parameters, responses: pickReferenced('responses', responses, paths) },
  };
}

/** The values that at least two operations use, under names that stand for the same value everywhere. */
function sharedValues<T>(uses: Use<T>[]): Record<string, T> {
  const shared = [...Map.groupBy(uses, ({ name }) => name).values()].flatMap(([first, ...others]) => {
    const isShared = others.length > 0 && others.every((other) => JSON.stringify(other) === JSON.stringify(first));
    return first && isShared ? [[first.name, first.value] as const] : [];
  });
  return Object.fromEntries(shared);
}

/** Path parameters get a suffix, because `customerId` is also a query parameter. */
const parameterUse = (value: Parameter): Use<Parameter> => ({
  name: value.in === 'path' ? `${value.name}InPath` : value.name,
  value,
});

/** `Unauthorized` if every operation has the same response, else `ListBadRequest` if every list operation does. */
function responseNames({ operationId }: Operation, status: string): string[] {
  const name = statusNames[status];
  const [verb = ''] = /^[a-z]+/.exec(operationId) ?? [];
  return name === undefined ? [] : [name, `${verb.charAt(0).toUpperCase()}${verb.slice(1)}${name}`];
}
