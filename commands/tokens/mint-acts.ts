/** `svc tokens pause`, `resume` and `close`: what the authorities of a Token-2022 mint do with all of a token. */
import { paths } from '../../src/api/paths.ts'
import type { TokenClosing, TokenPausing } from '../../src/api/token-acts.ts'
import { LAMPORT_DECIMALS, solOf } from '../cli/amounts.ts'
import { mintAddress, required, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { demanding } from '../signing/demand.ts'
import { actsOnMint } from '../signing/demanded-tokens.ts'
import { previewLine } from '../signing/preview.ts'
import { ACT_SIGNING, type ActFlags, runAct } from './run-act.ts'

const demandsMintAct = demanding('this act on the mint, and nothing else', actsOnMint)

const { submit, get, simulate } = paths.transactions
const SENDS = [simulate, submit, get, paths.signer.get]
const MINT_ARG = required(mintAddress('Mint of the token, or its symbol'))

const PAUSING = {
  pause: {
    title: 'Pause',
    meaning: 'nobody can mint, burn or send it until it is resumed',
    state: 'paused',
  },
  resume: { title: 'Resume', meaning: 'it can be minted, burned and sent again', state: 'resumed' },
} as const

function runPausing(session: Session, flags: ActFlags, { act, mint }: { act: 'pause' | 'resume'; mint: string }) {
  const { title, meaning, state } = PAUSING[act]
  const { pause, resume } = session.client.tokens
  return runAct<TokenPausing>(session, flags, {
    what: `${title} the token ${mint}`,
    call: (body, options) => (act === 'pause' ? pause : resume)({ mint, ...body }, options),
    demand: (of) => demandsMintAct(of, { act, mint }),
    preview: () => [previewLine('effect', meaning)],
    show: () => ({ mint, state }),
  })
}

export const pauseVerb = verb({
  about: 'Pause a Token-2022 token',
  details: `Your keypair must hold its pause authority. Afterwards ${PAUSING.pause.meaning}.`,
  calls: [paths.tokens.pause, ...SENDS],
  args: { mint: MINT_ARG },
  flags: ACT_SIGNING,
  examples: [
    'svc tokens pause 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
    'svc tokens pause 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --dry-run',
  ],
  run: ({ mint, ...flags }, session) => runPausing(session, flags, { act: 'pause', mint }),
})

export const resumeVerb = verb({
  about: 'Resume a paused token',
  details: 'Your keypair must hold its pause authority.',
  calls: [paths.tokens.resume, ...SENDS],
  args: { mint: MINT_ARG },
  flags: ACT_SIGNING,
  examples: [
    'svc tokens resume 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
    'svc tokens resume 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --dry-run',
  ],
  run: ({ mint, ...flags }, session) => runPausing(session, flags, { act: 'resume', mint }),
})

export const closeVerb = verb({
  about: 'Close the mint of a Token-2022 token for good',
  details:
    'Your keypair must hold its close authority, and all of the token must be burned before. The rent of the mint returns to you.',
  calls: [paths.tokens.close, ...SENDS],
  args: { mint: MINT_ARG },
  flags: ACT_SIGNING,
  examples: [
    'svc tokens close 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
    'svc tokens close 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --dry-run',
  ],
  async run({ mint, ...flags }, session) {
    return runAct<TokenClosing>(session, flags, {
      what: `Close the mint ${mint} for good`,
      call: (body, options) => session.client.tokens.close({ mint, ...body }, options),
      demand: (of) => demandsMintAct(of, { act: 'close', mint }),
      preview: ({ lamports }) => [
        previewLine('returns', `${solOf(BigInt(lamports))} SOL; the mint and its metadata are gone`),
      ],
      show: ({ lamports }) => ({ mint, state: 'closed', lamports }),
      decimals: { lamports: LAMPORT_DECIMALS },
    })
  },
})
