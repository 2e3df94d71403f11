/** A customer, as stored. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import { emailFragments } from './email-fragments.ts';
import { foldForOrder, phoneDigits, phoneMark, searchForms, searchText } from './fold.ts';
import { filters, metadata, optionalJson, optionalText, optionalTimestamp, owned, versioned } from './owned.ts';

export const addressParts = ['line1', 'line2', 'city', 'region', 'postalCode', 'country'] as const;
export type StoredAddress = Record<(typeof addressParts)[number], string | null>;

type Described = { name: string; tags: string[]; address?: StoredAddress | null } & {
  [Text in 'firstName' | 'lastName' | 'companyName' | 'email' | 'phone' | 'externalId']?: string | null;
};
/** All that the derived values below may use. */
export const customerSources = [
  'name',
  'firstName',
  'lastName',
  'companyName',
  'email',
  'phone',
  'address',
  'externalId',
  'tags',
] as const;
type Searched = Pick<Described, (typeof customerSources)[number]>;

const nameKey = ({ name }: Searched) => foldForOrder(name);
/** The text by which a search finds the customer's proposals. */
const nameSearch = ({ name }: Searched) => searchForms(name).join('\n');
const emailKey = ({ email }: Searched) => email?.toLowerCase() ?? null;
// Reversed, so that an ordinary index finds the numbers that end with some digits.
const phoneKey = ({ phone }: Searched) => (phone ? [...phoneDigits(phone)].reverse().join('') : null);
const search = ({ name, firstName, lastName, companyName, email, phone, address, externalId }: Searched) =>
  searchText(
    [...new Set([name, firstName, lastName, companyName, email, address?.city, address?.postalCode, externalId])],
    phone ? phoneDigits(phone) : '',
  );

/** What filters look up in the customer as a whole: tags in lower case, and the parts of searched words with an @. */
export type CustomerTokens = { tag: string[]; at: string[] };
/** Computed after `search`, from which the parts are taken. */
const tokens = ({ search: searched = '', tags }: Searched & { search?: string }): CustomerTokens => ({
  tag: tags.map((tag) => tag.toLowerCase()),
  at: emailFragments(searched.split(phoneMark)[0] ?? ''),
});

export const Customer = defineEntity({
  name: 'Customer',
  tableName: 'customers',
  filters,
  properties: {
    ...owned,
    type: p.enum(['person', 'company']),
    name: p.text(),
    firstName: optionalText(),
    lastName: optionalText(),
    companyName: optionalText(),
    email: optionalText(),
    phone: optionalText(),
    address: optionalJson<StoredAddress>(),
    shippingAddress: optionalJson<StoredAddress>(),
    taxId: optionalText(),
    website: optionalText(),
    notes: optionalText(),
    tags: p.array().onCreate(() => []),
    externalId: optionalText(),
    metadata: metadata(),
    status: p.enum(['active', 'archived']).onCreate(() => 'active'),
    erasedAt: optionalTimestamp(),
    ...versioned,
    nameKey: p.text().onCreate(nameKey).onUpdate(nameKey),
    nameSearch: p.text().onCreate(nameSearch).onUpdate(nameSearch),
    emailKey: p.text().$type<string | null>().strictNullable().onCreate(emailKey).onUpdate(emailKey),
    phoneKey: p.text().$type<string | null>().strictNullable().onCreate(phoneKey).onUpdate(phoneKey),
    search: p.text().onCreate(search).onUpdate(search),
    tokens: p.json<CustomerTokens>().onCreate(tokens).onUpdate(tokens),
  },
});
export type Customer = InferEntity<typeof Customer>;
