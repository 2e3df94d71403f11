/** Reads and writes customers, proposals and items. Everything about them comes from the contract. */
import { NodeConnectionTypes } from 'n8n-workflow';
import type { INodeType, INodeTypeDescription } from 'n8n-workflow';
import { authentication, credentials } from './authentication';
import { properties } from './properties';

export class Proposal implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Proposal API',
    name: 'proposal',
    icon: { light: 'file:../../icons/proposal.svg', dark: 'file:../../icons/proposal.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: 'Read and write customers, proposals and catalog items',
    defaults: { name: 'Proposal API' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials,
    requestDefaults: {
      baseURL: '={{$credentials.serverUrl.replace(/(?:\\/v1)?\\/*$/, "")}}',
      headers: { Accept: 'application/json' },
      ignoreHttpStatusErrors: true,
    },
    properties: [authentication, ...properties],
  };
}
