/** `svc airdrops sponsor`: what the platform wallet pays for the claims of an airdrop, shown and set. */
import { paths } from '../../src/api/paths.ts'
import type { Sponsorship } from '../../src/api/sponsorships.ts'
import { inWhole, LAMPORT_DECIMALS, rawUnits } from '../amounts.ts'
import { type CommandOutcome, required, text, toggle, verb } from '../command.ts'
import { usage } from '../ui/problem.ts'

export const airdropSponsorVerb = verb({
  about: 'Pay for the claims of wallets without SOL, within a budget',
  details:
    'The platform wallet pays fee and rent of sponsored claims, once for each listed wallet. Without flags the sponsorship is shown. The budget is for all claims of the airdrop together; a new one replaces it.',
  calls: [paths.sponsorships.get, paths.sponsorships.update],
  args: { id: required(text('Id of the airdrop')) },
  flags: {
    budget: text('Most SOL that may leave the platform wallet in all', { placeholder: 'SOL' }),
    root: text('Pay only for the list with this Merkle root, hex; another one that is stored is refused', {
      placeholder: 'ROOT',
    }),
    on: toggle('Begin to pay again'),
    off: toggle('Stop paying; claims under way go on'),
  },
  examples: [
    'svc airdrops sponsor 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --budget 1.5',
    'svc airdrops sponsor 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc airdrops sponsor 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --off',
  ],
  async run({ id, budget, root, on, off }, { client }) {
    if (on && off) throw usage('give either --on or --off', { param: '--off' })
    if (budget === undefined && root === undefined && !on && !off)
      return sponsorshipOutcome((await client.sponsorships.get({ id })).data)
    const { data } = await client.sponsorships.update({
      id,
      ...(budget === undefined ? {} : { budget: String(rawUnits(budget, LAMPORT_DECIMALS, '--budget')) }),
      ...(root === undefined ? {} : { root }),
      ...(on || off ? { enabled: on } : {}),
    })
    return sponsorshipOutcome(data)
  },
})

const sponsorshipOutcome = (data: Sponsorship): CommandOutcome => ({
  data,
  record: inWhole(data, { budget: LAMPORT_DECIMALS, used: LAMPORT_DECIMALS, left: LAMPORT_DECIMALS }),
})
