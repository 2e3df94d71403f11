/** Reads and writes customers, proposals and items. Everything about them comes from the contract. */
import { NodeConnectionTypes } from 'n8n-workflow';
import type { INodeType, INodeTypeDescription } from 'n8n-workflow';
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
    credentials: [
      { name: 'proposalApi', required: true, displayOptions: { show: { authentication: ['apiKey'] } } },
      { name: 'proposalOAuth2Api', required: true, displayOptions: { show: { authentication: ['oAuth2'] } } },
    ],
    requestDefaults: {
      baseURL: '={{$credentials.serverUrl.replace(/\\/+$/, "")}}',
      headers: { Accept: 'application/json' },
      ignoreHttpStatusErrors: true,
    },
    properties: [
      {
        displayName: 'Authentication',
        name: 'authentication',
        type: 'options',
        options: [
          { name: 'API Key', value: 'apiKey' },
          { name: 'Connect (OAuth2)', value: 'oAuth2' },
        ],
        default: 'oAuth2',
      },
      ...properties,
    ],
  };
}
