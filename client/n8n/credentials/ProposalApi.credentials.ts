/** An API key that a person pastes. */
import type {
  IAuthenticateGeneric,
  Icon,
  ICredentialTestRequest,
  ICredentialType,
  INodeProperties,
} from 'n8n-workflow';
import { defaultUrl } from '../contract';

export class ProposalApi implements ICredentialType {
  name = 'proposalApi';

  displayName = 'Proposal API';

  icon: Icon = { light: 'file:../icons/proposal.svg', dark: 'file:../icons/proposal.dark.svg' };

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-proposal-api';

  properties: INodeProperties[] = [
    {
      displayName: 'Server URL',
      name: 'serverUrl',
      type: 'string',
      default: defaultUrl,
      required: true,
      description: 'Where the service is',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description: 'An admin creates it in Settings under API Keys',
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } },
  };

  test: ICredentialTestRequest = {
    request: { baseURL: '={{$credentials.serverUrl.replace(/(?:\\/v1)?\\/*$/, "")}}', url: '/v1/me' },
  };
}
