/** The settings: which address is which page. */
import express, { Router } from 'express';
import type pg from 'pg';
import type { KeyDirectory } from '../../keys/directory.ts';
import type { Database } from '../../database/orm.ts';
import { serveAsset } from './assets.ts';
import { createDoor } from './door.ts';
import type { Door } from './door.ts';
import { answerErrorPage, noSuchPage } from './error-page.ts';
import { signedForms } from './form.ts';
import type { Forms } from './form.ts';
import { keyRoutes } from './key-routes.ts';
import { createSignIns } from '../../accounts/sign-in.ts';
import type { SignIns } from '../../accounts/sign-in.ts';
import { signInRoutes } from './sign-in-routes.ts';

export type SettingsParts = {
  database: Database;
  keys: KeyDirectory;
  /** Signs sessions and forms: at least 32 characters, the same for every process and after a restart. */
  secret: string;
  /** The service is reached over https. */
  secure: boolean;
  baseUrl: () => string;
  onError: (error: unknown) => void;
};

/** What the routes share. */
export type Room = {
  door: Door;
  signIns: SignIns;
  forms: Forms;
  pool: pg.Pool;
  keys: KeyDirectory;
  baseUrl: () => string;
};

export function settingsRouter({ database, keys, secret, secure, baseUrl, onError }: SettingsParts): Router {
  const { pool } = database;
  const signIns = createSignIns({ database, secret, secure, onError });
  const forms = signedForms(secret);
  const room: Room = { door: createDoor({ signIns, forms, pool, baseUrl }), signIns, forms, pool, keys, baseUrl };
  const router = Router({ caseSensitive: true });

  router.get('/assets/:file', serveAsset);
  router.use(express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 20 }));
  router.get('/', (_, response) => response.redirect(303, '/settings/api-keys'));
  signInRoutes(router, room);
  keyRoutes(router, room);
  router.use(() => {
    throw noSuchPage();
  });
  router.use(answerErrorPage);
  return router;
}
