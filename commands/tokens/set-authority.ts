/** `svc tokens set-authority`: transfers an authority of a token to a wallet or a multisig's vault, or removes it for good. */
import { paths } from '../../src/api/paths.ts'
import type { TokenAuthorityTransfer } from '../../src/api/tokens.ts'
import { walletKey } from '../../src/merkle/base58.ts'
import { TOKEN_AUTHORITIES, type TokenAuthorityType } from '../../src/solana/token-authorities.ts'
import { choiceOf, mintAddress, requiredUnless, text, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { demanding } from '../signing/demand.ts'
import { changesAuthority } from '../signing/demanded-tokens.ts'
import { ALLOW_PROGRAMS, programsField, WALLET_ADDRESS } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, type Act, runAct } from '../signing/run-act.ts'
import { counted } from '../ui/words.ts'
import { FROM_MINTS, PROPOSALS_JOURNAL } from './act-inputs.ts'
import { actOnMints } from './mint-lists.ts'
import { readMintRows } from './mint-rows.ts'

export const AUTHORITIES = ['mint', 'freeze', 'metadata'] as const

const TYPES = Object.keys(TOKEN_AUTHORITIES) as TokenAuthorityType[]
const MEANINGS = Object.fromEntries(TYPES.map((type) => [type, `can ${TOKEN_AUTHORITIES[type].can}`]))

const demandsTransfer = demanding('gives this authority to this address, and changes nothing else', changesAuthority)
export const demandsEnd = demanding('gives up this authority, and changes nothing else', changesAuthority)

export const setAuthorityVerb = verb({
  about: "Give an authority of a token to another wallet or a multisig's vault, or up for good",
  details:
    'The present holder signs. Only the new holder can give it back, so check the address; with none nobody can ever have it again. For the vault of a multisig add --allow-programs. `svc tokens get` shows the authorities. With --from each row is mint,type,new_authority; run the same command again after any interruption.',
  calls: [paths.tokens.transferAuthority, ...ACT_CALLS],
  args: {
    mint: requiredUnless('from', mintAddress('Mint of the token, or its symbol')),
    type: requiredUnless('from', choiceOf(TYPES, 'Authority to give', MEANINGS)),
    new_authority: requiredUnless('from', text('Address that gets it, or none')),
  },
  flags: {
    from: FROM_MINTS,
    journal: PROPOSALS_JOURNAL,
    allow_programs: ALLOW_PROGRAMS,
    authority: text('Wallet that signs elsewhere and holds it, the same as --payer; with --build-only', WALLET_ADDRESS),
    ...ACT_SIGNING,
  },
  examples: [
    'svc tokens set-authority 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY mint 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78',
    'svc tokens set-authority 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY pause none',
    'svc tokens set-authority 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY metadata 7Kqa3YXKZzUhDpVB3XcxZcQnGs5Bs2Tn1zZ1mcKjqAVA --allow-programs --dry-run',
    'svc tokens set-authority --from authorities.csv --dry-run',
  ],
  async run({ mint, type, new_authority: typed, from, journal, allow_programs, ...flags }, session) {
    const actOf = authorityChange(session, allow_programs)
    if (from === undefined) {
      if (type === undefined) throw new Error('the command was started without <type>')
      return runAct(session, flags, actOf({ mint: mint ?? '', type, to: holderOf(typed ?? '') }))
    }
    const rows = await readMintRows(from, {
      columns: ['type', 'new_authority'],
      needed: ['type', 'new_authority'],
      keys: ['type'],
      fault: ({ type: text = '', new_authority: holder = '' }) =>
        !isType(text)
          ? { column: 'type', message: `"${text}" is not an authority; they are ${TYPES.join(', ')}` }
          : holder !== 'none' && walletKey(holder) === undefined
            ? { column: 'new_authority', message: 'the new_authority is neither an address nor none' }
            : null,
    })
    return actOnMints(session, flags, {
      file: from,
      journal,
      verb: 'set-authority',
      question: `Make ${counted(rows.length, 'change')} of authorities`,
      done: 'set',
      acts: rows.map(({ mint: each, line, cells }) => {
        const to = holderOf(cells.new_authority ?? '')
        return {
          ...actOf({ mint: each, type: cells.type as TokenAuthorityType, to }),
          mint: each,
          content: JSON.stringify([each, cells]),
          line,
          isDone: ({ details }) => (to === null ? details?.reason === 'given_up' : details?.authority === to),
        }
      }),
    })
  },
})

const isType = (text: string): text is TokenAuthorityType => (TYPES as readonly string[]).includes(text)
const holderOf = (typed: string): string | null => (typed === 'none' ? null : typed)

interface AuthorityChange {
  mint: string
  type: TokenAuthorityType
  to: string | null
}

const authorityChange =
  ({ client: { tokens } }: Session, allow_programs: boolean) =>
  ({ mint, type, to }: AuthorityChange): Act<TokenAuthorityTransfer> => {
    const { name, can } = TOKEN_AUTHORITIES[type]
    const request = { mint, type, new_authority: to, ...programsField({ allow_programs }) }
    return {
      what: to === null ? `Give up the ${name} of ${mint} for good` : `Give the ${name} of ${mint} to ${to}`,
      call: (body, options) => tokens.transferAuthority({ ...request, ...body }, options),
      demand: (of) => (to === null ? demandsEnd : demandsTransfer)(of, request),
      preview: ({ authority, warnings = [] }) => [
        previewLine('held by', authority),
        previewLine(
          'goes to',
          to === null ? `nobody, for good: nobody can ${can}` : `${to}; only it can give the authority back`,
        ),
        ...warnings.map((warning) => previewLine('check', warning)),
      ],
      show: ({ authority }) => ({ mint, type, authority, new_authority: to }),
    }
  }
