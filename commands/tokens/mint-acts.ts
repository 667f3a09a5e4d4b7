/** `svc tokens pause`, `resume` and `close`: what the authorities of a Token-2022 mint do with all of a token. */
import { paths } from '../../src/api/paths.ts'
import type { TokenClosing, TokenPausing } from '../../src/api/token-acts.ts'
import type { ApiError } from '../../src/platform/errors.ts'
import { TOKEN_2022_PROGRAM } from '../../src/solana/program-ids.ts'
import { LAMPORT_DECIMALS, solOf } from '../cli/amounts.ts'
import { type CommandOutcome, mintAddress, requiredUnless, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { demanding } from '../signing/demand.ts'
import { previewLine } from '../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, type Act, type ActAnswer, type ActFlags, runAct } from '../signing/run-act.ts'
import { counted } from '../ui/words.ts'
import { FROM_MINTS, PROPOSALS_JOURNAL } from './act-inputs.ts'
import { actOnMints } from './mint-lists.ts'
import { readMintRows } from './mint-rows.ts'

/** One act on the mint itself; closing returns its rent to the payer. */
const demandsMintAct = demanding(
  'this act on the mint, and nothing else',
  ({ payer: authority }, { act, mint }: { act: 'pause' | 'resume' | 'close'; mint: string }) => {
    const program = TOKEN_2022_PROGRAM
    return act === 'close'
      ? [{ program, call: 'closeAccount', fields: { account: mint, destination: authority, authority } }]
      : [{ program, call: act, fields: { mint, authority } }]
  },
)

const MINT_ARG = requiredUnless('from', mintAddress('Mint of the token, or its symbol'))
const OF_LIST = 'With --from it is done for each mint of a CSV; run the same command again after any interruption.'

const PAUSING = {
  pause: {
    title: 'Pause',
    meaning: 'nobody can mint, burn or send it until it is resumed',
    state: 'paused',
  },
  resume: { title: 'Resume', meaning: 'it can be minted, burned and sent again', state: 'resumed' },
} as const

const pausing =
  ({ client: { tokens } }: Session, act: 'pause' | 'resume') =>
  (mint: string): Act<TokenPausing> => ({
    what: `${PAUSING[act].title} the token ${mint}`,
    call: (body, options) => (act === 'pause' ? tokens.pause : tokens.resume)({ mint, ...body }, options),
    demand: (of) => demandsMintAct(of, { act, mint }),
    preview: () => [previewLine('effect', PAUSING[act].meaning)],
    show: () => ({ mint, state: PAUSING[act].state }),
  })

const closing =
  ({ client: { tokens } }: Session) =>
  (mint: string): Act<TokenClosing> => ({
    what: `Close the mint ${mint} for good`,
    call: (body, options) => tokens.close({ mint, ...body }, options),
    demand: (of) => demandsMintAct(of, { act: 'close', mint }),
    preview: ({ lamports }) => [
      previewLine('returns', `${solOf(BigInt(lamports))} SOL; the mint and its metadata are gone`),
    ],
    show: ({ lamports }) => ({ mint, state: 'closed', lamports }),
    decimals: { lamports: LAMPORT_DECIMALS },
  })

interface MintActInput extends ActFlags {
  mint?: string | undefined
  from?: string | undefined
  journal?: string | undefined
}

interface MintActWords {
  verb: string
  title: string
  noun: string
  done: string
  doneBefore?: string
  isDone(error: ApiError): boolean
}

/** For the mint of the argument, or for each one of a CSV. */
async function runMintAct<D extends ActAnswer>(
  session: Session,
  { mint, from, journal, ...flags }: MintActInput,
  actOf: (mint: string) => Act<D>,
  { title, noun, isDone, ...words }: MintActWords,
): Promise<CommandOutcome> {
  if (from === undefined) return runAct(session, flags, actOf(mint ?? ''))
  const rows = await readMintRows(from, { columns: [] })
  return actOnMints(session, flags, {
    file: from,
    journal,
    ...words,
    question: `${title} ${counted(rows.length, noun)}`,
    acts: rows.map(({ mint: each, line }) => ({ ...actOf(each), mint: each, content: each, line, isDone })),
  })
}

const isUnchanged = ({ details }: ApiError) => details?.reason === 'no_change'
const pausingWords = (act: 'pause' | 'resume') => ({
  verb: act,
  title: PAUSING[act].title,
  noun: 'token',
  done: PAUSING[act].state,
  isDone: isUnchanged,
})
const closingWords = {
  verb: 'close',
  title: 'Close',
  noun: 'mint',
  done: 'closed',
  // The chain shows neither a mint that was closed nor one that never was.
  doneBefore: 'not on chain: closed before, or never made',
  isDone: ({ code }: ApiError) => code === 'not_found',
}

export const pauseVerb = verb({
  about: 'Pause a Token-2022 token',
  details: `Your keypair must hold its pause authority. Afterwards ${PAUSING.pause.meaning}. ${OF_LIST}`,
  calls: [paths.tokens.pause, ...ACT_CALLS],
  args: { mint: MINT_ARG },
  flags: { from: FROM_MINTS, journal: PROPOSALS_JOURNAL, ...ACT_SIGNING },
  examples: [
    'svc tokens pause 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
    'svc tokens pause 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --dry-run',
    'svc tokens pause --from mints.csv --dry-run',
  ],
  run: (input, session) => runMintAct(session, input, pausing(session, 'pause'), pausingWords('pause')),
})

export const resumeVerb = verb({
  about: 'Resume a paused token',
  details: `Your keypair must hold its pause authority. ${OF_LIST}`,
  calls: [paths.tokens.resume, ...ACT_CALLS],
  args: { mint: MINT_ARG },
  flags: { from: FROM_MINTS, journal: PROPOSALS_JOURNAL, ...ACT_SIGNING },
  examples: [
    'svc tokens resume 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
    'svc tokens resume 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --dry-run',
    'svc tokens resume --from mints.csv --dry-run',
  ],
  run: (input, session) => runMintAct(session, input, pausing(session, 'resume'), pausingWords('resume')),
})

export const closeVerb = verb({
  about: 'Close the mint of a Token-2022 token for good',
  details: `Your keypair must hold its close authority, and all of the token must be burned before. The rent of the mint returns to you. ${OF_LIST}`,
  calls: [paths.tokens.close, ...ACT_CALLS],
  args: { mint: MINT_ARG },
  flags: { from: FROM_MINTS, journal: PROPOSALS_JOURNAL, ...ACT_SIGNING },
  examples: [
    'svc tokens close 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
    'svc tokens close 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --dry-run',
    'svc tokens close --from mints.csv --dry-run',
  ],
  run: (input, session) => runMintAct(session, input, closing(session), closingWords),
})
