/** `svc pdas`: program-derived addresses. */
import { paths } from '../src/api/paths.ts'
import { choiceOf, listOf, type Noun, required, verb } from './cli/command.ts'
import { usage } from './ui/problem.ts'

const DERIVED_KINDS = [
  'ata',
  'metadata',
  'dbc_pool',
  'damm_v2_pool',
  'merkle_distributor',
  'claim_status',
  'gold_lock',
] as const

export const pdasNoun: Noun = {
  verbs: {
    derive: verb({
      about: 'Derive an address from named inputs',
      details:
        'Inputs by kind: ata owner mint [token_program]; metadata mint; dbc_pool base_mint config [quote_mint]; damm_v2_pool config base_mint [quote_mint]; merkle_distributor mint airdrop_count; claim_status mint airdrop_count claimer; gold_lock user.',
      calls: [paths.pdas.derive],
      args: {
        kind: required(choiceOf(DERIVED_KINDS, 'What to derive', { ata: 'token account of a wallet' })),
        inputs: required(listOf('The inputs of the kind, NAME=VALUE each')),
      },
      examples: [
        'svc pdas derive ata owner=9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g mint=9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
        'svc pdas derive merkle_distributor mint=9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY airdrop_count=0 --json',
      ],
      async run({ kind, inputs }, { client }) {
        return { data: (await client.pdas.derive({ kind, args: Object.fromEntries(inputs.map(namedInput)) })).data }
      },
    }),
  },
}

/** Parses `NAME=VALUE`. A short number is an airdrop count, because no address is that short. */
function namedInput(input: string): [string, string | number] {
  const at = input.indexOf('=')
  if (at < 1) throw usage(`"${input}" is not NAME=VALUE`, { param: 'inputs' })
  const value = input.slice(at + 1)
  return [input.slice(0, at), /^\d{1,5}$/.test(value) ? Number(value) : value]
}
