/** How a node gets its key: pasted, or by clicking Connect. */
import type { INodeCredentialDescription, INodeProperties } from 'n8n-workflow';

export const credentials: INodeCredentialDescription[] = [
  { name: 'proposalApi', required: true, displayOptions: { show: { authentication: ['apiKey'] } } },
  { name: 'proposalOAuth2Api', required: true, displayOptions: { show: { authentication: ['oAuth2'] } } },
];

export const authentication: INodeProperties = {
  displayName: 'Authentication',
  name: 'authentication',
  type: 'options',
  options: [
    { name: 'API Key', value: 'apiKey' },
    { name: 'Connect (OAuth2)', value: 'oAuth2' },
  ],
  default: 'oAuth2',
};
