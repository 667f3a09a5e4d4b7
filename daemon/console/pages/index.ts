/** The pages of the console, in the order of the navigation. */
import type { ConsolePage } from '../page.ts'
import { airdropPages } from './airdrops.tsx'
import { keysPage } from './keys.tsx'
import { launchPages } from './launches.tsx'
import { ledgerPages } from './ledger.tsx'
import { needsYouPage } from './needs-you.tsx'
import { proposalPages } from './proposals.tsx'
import { schedulePages } from './schedules.tsx'
import { sessionsPage } from './sessions.tsx'
import { signerPages } from './signer.tsx'
import { systemPage } from './system.tsx'
import { tokenPages } from './tokens.tsx'
import { transactionPages } from './transactions.tsx'
import { webhookPages } from './webhooks.tsx'

export const PAGES: readonly ConsolePage[] = [
  needsYouPage,
  ...launchPages,
  ...airdropPages,
  ...proposalPages,
  ...transactionPages,
  ...webhookPages,
  ...tokenPages,
  ...signerPages,
  ...schedulePages,
  ...ledgerPages,
  keysPage,
  systemPage,
  sessionsPage,
]
