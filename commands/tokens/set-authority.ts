/** `svc tokens set-authority`: gives an authority of a token to another wallet or a multisig's vault, or up for good. */
import { paths } from '../../src/api/paths.ts'
import type { TokenAuthorityTransfer } from '../../src/api/tokens.ts'
import { TOKEN_AUTHORITIES, type TokenAuthorityType } from '../../src/solana/token-authorities.ts'
import { choiceOf, mintAddress, required, text, verb } from '../cli/command.ts'
import { demanding } from '../signing/demand.ts'
import { givesAuthority, revokes } from '../signing/demanded-tokens.ts'
import { ALLOW_PROGRAMS, programsField, WALLET_ADDRESS } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { ACT_SIGNING, runAct } from './run-act.ts'

export const AUTHORITIES = ['mint', 'freeze', 'metadata'] as const

const TYPES = Object.keys(TOKEN_AUTHORITIES) as TokenAuthorityType[]
const MEANINGS = Object.fromEntries(TYPES.map((type) => [type, `can ${TOKEN_AUTHORITIES[type].can}`]))

const demandsTransfer = demanding('gives this authority to this address, and changes nothing else', givesAuthority)
const demandsEnd = demanding('gives up this authority, and changes nothing else', revokes)

const { submit, get, simulate } = paths.transactions

export const setAuthorityVerb = verb({
  about: "Give an authority of a token to another wallet or a multisig's vault, or up for good",
  details:
    'The present holder signs. Only the new holder can give it back, so check the address; with none nobody can ever have it again. For the vault of a multisig add --allow-programs. `svc tokens get` shows the authorities.',
  calls: [paths.tokens.transferAuthority, simulate, submit, get, paths.signer.get],
  args: {
    mint: required(mintAddress('Mint of the token, or its symbol')),
    type: required(choiceOf(TYPES, 'Authority to give', MEANINGS)),
    new_authority: required(text('Address that gets it, or none')),
  },
  flags: {
    allow_programs: ALLOW_PROGRAMS,
    authority: text('Wallet that signs elsewhere and holds it, the same as --payer; with --build-only', WALLET_ADDRESS),
    ...ACT_SIGNING,
  },
  examples: [
    'svc tokens set-authority 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY mint 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78',
    'svc tokens set-authority 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY pause none',
    'svc tokens set-authority 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY metadata 7Kqa3YXKZzUhDpVB3XcxZcQnGs5Bs2Tn1zZ1mcKjqAVA --allow-programs --dry-run',
  ],
  async run({ mint, type, new_authority: typed, allow_programs, ...flags }, session) {
    const to = typed === 'none' ? null : typed
    const { name, can } = TOKEN_AUTHORITIES[type]
    return runAct<TokenAuthorityTransfer>(session, flags, {
      what: to === null ? `Give up the ${name} of ${mint} for good` : `Give the ${name} of ${mint} to ${to}`,
      call: (body, options) =>
        session.client.tokens.transferAuthority(
          { mint, type, new_authority: to, ...programsField({ allow_programs }), ...body },
          options,
        ),
      demand: (of) => (to === null ? demandsEnd(of, { mint, type }) : demandsTransfer(of, { mint, type, to })),
      preview: ({ authority, warnings = [] }) => [
        previewLine('held by', authority),
        previewLine(
          'goes to',
          to === null ? `nobody, for good: nobody can ${can}` : `${to}; only it can give the authority back`,
        ),
        ...warnings.map((warning) => previewLine('check', warning)),
      ],
      show: ({ authority }) => ({ mint, type, authority, new_authority: to }),
    })
  },
})
