/** What a page says of itself. */
import { Problem } from '../../problems/problem.ts';
import type { Html } from '../html.ts';

export type Page = {
  title: string;
  main: Html;
  /** Its section in the menu; without one, it has no menu and does not show who is signed in. */
  current?: Section;
  /** 200 unless given. */
  status?: number;
  /** The page's script requests it again and again; without JavaScript, the browser does. */
  isChanging?: boolean;
  /** The page is part of connecting an application: its window may belong to the application, to which its form leads. */
  connecting?: { formAction: string } | undefined;
};

/** The menu. */
export const sections = {
  '/settings/overview': 'Overview',
  '/settings/customers': 'Customers',
  '/settings/proposals': 'Proposals',
  '/settings/items': 'Items',
  '/settings/api-keys': 'API Keys',
  '/settings/usage': 'Usage',
  '/settings/webhooks': 'Webhooks',
  '/settings/imports': 'Import and export',
  '/settings/members': 'Members',
  '/settings/activity': 'Activity',
  '/settings/account': 'Account',
} as const;
export type Section = keyof typeof sections;

export const pageNotFound = () => new Problem('unknown', { sentence: 'There is no page at this URL.' });
