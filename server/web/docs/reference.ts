/** /docs/reference: a list of operations, and on request Scalar's viewer, with samples of the typed client beside curl. */
import type { AppRoute } from '@ts-rest/core';
import { mapValues } from '../../../contract/openapi/document.ts';
import type { Operation, Parameter } from '../../../contract/openapi/document.ts';
import { expandedDocument } from '../../../contract/openapi/openapi.ts';
import { metadataOf, operationsOf } from '../../../contract/operations.ts';
import { v1 } from '../../../contract/v1.ts';
import type { V1 } from '../../../contract/v1.ts';
import type { Assets } from './assets.ts';
import { html } from '../html.ts';
import { siteTitle } from './guides.ts';

export function referencePage(root: string, { reference, referenceStyle, scalar }: Assets): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content="Every operation, parameter, field and response, with requests to try." />
        <title>Reference · ${siteTitle}</title>
        <link rel="icon" href="${root}/favicon.ico" />
        <link rel="stylesheet" href="${root}/docs/assets/${referenceStyle.name}" />
      </head>
      <body>
        <nav class="bar" aria-label="Documentation">
          <a href="${root}/docs">Guides</a> <a href="${root}/openapi.json">OpenAPI 3.1</a>
          <a href="${root}/openapi-3.0.json">3.0</a>
        </nav>
        <main id="overview">
          <h1>Reference</h1>
          <p>
            Every operation with its parameters, fields, responses and errors, and requests to try with your own key.
            The viewer is a download of 1.2 MB; it opens with the first operation that you choose.
          </p>
          <ul>
            ${operationsOf(v1).map(
              (route) =>
                html`<li>
                  <a href="${operationAnchor(route).replace('/docs/reference', '')}">${route.summary}</a>
                  <code>${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}</code>
                </li>`,
            )}
          </ul>
          <noscript>
            <p>
              The viewer needs JavaScript. <a href="${root}/openapi.json">openapi.json</a> has the same content, and the
              <a href="${root}/docs">guides</a> work without.
            </p>
          </noscript>
        </main>
        <div id="reference" data-root="${root}"></div>
        <template id="viewer"><script src="${root}/docs/assets/${scalar.name}"></script></template>
        <script src="${root}/docs/assets/${reference.name}"></script>
      </body>
    </html> `.html;
}

type Samples = { [Resource in keyof V1]: { [Name in keyof V1[Resource]]: string } };

/** How the client carries out each operation; one that is missing does not compile. */
export const samples: Samples = {
  me: { get: 'const { label, rateLimit } = await client.me.get();' },
  customers: {
    list: `for await (const customer of client.customers.list({ status: 'active' })) {
  console.log(customer.id, customer.name);
}`,
    get: `const customer = await client.customers.get('cus_01jzy3v1k8e2tb6qk3x5w9r7md');`,
    create: `const customer = await client.customers.create({
  name: 'Alfreds Futterkiste',
  email: 'maria@alfreds.example',
});`,
    update: `const customer = await client.customers.update('cus_01jzy3v1k8e2tb6qk3x5w9r7md', {
  phone: '030-0076545',
  notes: null,
});`,
  },
  proposals: {
    list: `for await (const proposal of client.proposals.list({ status: 'accepted' })) {
  console.log(proposal.number, proposal.total, proposal.currency);
}`,
    get: `const proposal = await client.proposals.get('prp_01jzy3v1k8e2tb6qk3x5w9r7md');`,
  },
  items: {
    list: `for await (const item of client.items.list({ type: 'service' })) {
  console.log(item.id, item.name, item.unitPrice);
}`,
    get: `const item = await client.items.get('itm_01jzy3v1k8e2tb6qk3x5w9r7md');`,
    create: `const item = await client.items.create({
  type: 'product',
  name: 'Chai',
  unitPrice: '18.00',
});`,
  },
};

/** A whole program of the client for each operation, by operationId. */
export function clientPrograms(baseUrl: string): Map<string, string> {
  const start = `import { createClient } from '@proposal-api/client';

const client = createClient({ baseUrl: '${baseUrl}', apiKey: 'ak_live_your_key' });
`;
  const programs = new Map<string, string>();
  for (const [resource, routes] of Object.entries<Record<string, AppRoute>>(v1)) {
    // Samples has the very names of the contract.
    const ofResource = samples[resource as keyof Samples] as Record<string, string>;
    for (const [name, route] of Object.entries(routes))
      programs.set(metadataOf(route).operationId, `${start}${ofResource[name]}`);
  }
  return programs;
}

/** The published document with additions for the viewer, which other tools should not import. */
export function describedDocument(baseUrl: string): object {
  // The viewer shows a link without a name for the documentation that it is part of.
  const { externalDocs: _, ...document } = expandedDocument(baseUrl);
  const programs = clientPrograms(baseUrl);
  const describe = (operation: Operation) => ({
    ...operation,
    parameters: operation.parameters.map(unchecked),
    'x-codeSamples': [{ lang: 'TypeScript', label: 'Client', source: programs.get(operation.operationId) }],
  });
  return { ...document, paths: mapValues(document.paths, (methods) => mapValues(methods, describe)) };
}

/** Otherwise the viewer would send the examples of all optional parameters; readers should tick those they want. */
function unchecked({ example, ...parameter }: Parameter): object {
  if (parameter.required) return { ...parameter, example };
  return { ...parameter, examples: { default: { value: example, 'x-disabled': true } } };
}

/** Where the viewer shows an operation. */
export function operationAnchor(route: AppRoute): string {
  const { method, path } = route;
  return `/docs/reference#tag/${metadataOf(route).tag.name.toLowerCase()}/${method}${path.replaceAll(/:(\w+)/g, '{$1}')}`;
}
