/** The page of a raise: what is sold, and what a wallet can do in it. */
import { startPage } from '../page-frame.ts'
import { CLAIM_TEXTS } from '../texts.ts'
import { drawBuyer } from './buyer-section.ts'
import { drawRaiseChecks } from './raise-checks.ts'
import { readRaiseSubject } from './raise-files.ts'
import { RaiseSession } from './raise-session.ts'
import { drawSale } from './sale-section.ts'
import english from './texts/en.json' with { type: 'json' }

void startPage(async () => {
  const subject = await readRaiseSubject()
  return {
    texts: { english: { ...CLAIM_TEXTS.english, ...english }, languages: ['en', 'de'] },
    open: (settings, texts, draw) => new RaiseSession(subject, settings, texts, draw),
    drawSections: (session) => {
      drawSale(session)
      drawBuyer(session)
      drawRaiseChecks(session)
    },
    head: ({ state }) => ({
      title: 'raiseTitle',
      intro: 'raiseIntro',
      values: { symbol: state?.token.symbol ?? '' },
    }),
  }
}).then((session) => (session?.state === null ? session.refresh() : undefined))
