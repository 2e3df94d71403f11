import type { Member } from '../../../entities/organization.ts';
import { publicId } from '../../../records/public-id.ts';
import { html } from '../../html.ts';

export const pathOf = (member: Member) => `/settings/members/${publicId('member', member.id)}`;

export const cancel = html`<a href="/settings/members" role="button" class="secondary outline">Cancel</a>`;
