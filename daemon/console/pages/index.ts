/** The pages of the console, in the order of the navigation. */
import type { ConsolePage } from '../page.ts'
import { keysPage } from './keys.tsx'
import { needsYouPage } from './needs-you.tsx'
import { sessionsPage } from './sessions.tsx'
import { systemPage } from './system.tsx'
import { webhookPages } from './webhooks.tsx'

export const PAGES: readonly ConsolePage[] = [needsYouPage, ...webhookPages, keysPage, systemPage, sessionsPage]
