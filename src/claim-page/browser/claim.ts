/** The claim page: reads the files of its site, and shows the state of its session. */
import { drawChecks } from './checks-section.ts'
import { ClaimSession } from './claim-session.ts'
import { startPage } from './page-frame.ts'
import { drawResult } from './result-section.ts'
import { readSubject } from './site-files.ts'
import { CLAIM_TEXTS } from './texts.ts'

void startPage(async () => {
  const subject = await readSubject()
  const [airdrop] = subject.airdrops
  const values = { symbol: airdrop?.symbol || airdrop?.name || '' }
  return {
    texts: CLAIM_TEXTS,
    open: (settings, texts, draw) => new ClaimSession(subject, settings, texts, draw),
    drawSections: (session) => {
      drawResult(session)
      drawChecks(session)
    },
    head: () => ({ title: 'title', intro: 'intro', values }),
  }
})
