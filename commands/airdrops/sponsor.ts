/** `svc airdrops sponsor`: what the platform wallet pays for the claims of an airdrop, shown and set. */
import { paths } from '../../src/api/paths.ts'
import type { Sponsorship } from '../../src/api/sponsorships.ts'
import { inWhole, LAMPORT_DECIMALS, rawUnits, solOf } from '../cli/amounts.ts'
import { type CommandOutcome, required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { readLamports } from '../signing/funds.ts'
import { nullIfNotFound } from '../ui/problem.ts'
import { listFlags, ROOT_FLAG, requireNamedList, rootsOf, storedRecord } from './stored-list.ts'

export const airdropSponsorVerb = verb({
  about: 'Pay for the claims of wallets without SOL, within a budget',
  details:
    'The platform wallet pays fee and rent of sponsored claims, once for each listed wallet. Without flags the sponsorship is shown. The budget is for all claims of the airdrop together; a new one replaces it. A sponsorship is for the list that is stored when it starts; nobody can replace that list afterwards. If another API key stored the list, starting without a terminal or with --yes needs --root or --list.',
  calls: [
    paths.sponsorships.get,
    paths.sponsorships.update,
    paths.merkleTrees.get,
    paths.airdrops.get,
    paths.signer.get,
    paths.accounts.get,
  ],
  args: { id: required(text('Id of the airdrop')) },
  flags: {
    budget: text('Most SOL that may leave the platform wallet in all', { placeholder: 'SOL' }),
    root: text('Merkle root that the stored list must have, hex; an ended sponsorship starts again with it', ROOT_FLAG),
    ...listFlags,
    on: toggle('Start paying again', { conflicts: ['off'] }),
    off: toggle('Stop paying; claims in progress continue'),
  },
  examples: [
    'svc airdrops sponsor 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --budget 1.5',
    'svc airdrops sponsor 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --budget 1.5 --list recipients.csv --decimals 6',
    'svc airdrops sponsor 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc airdrops sponsor 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --off',
  ],
  async run({ id, budget, root, on, off, ...meant }, session) {
    const { client } = session
    const isNamed = root !== undefined || meant.list !== undefined
    if (budget === undefined && !isNamed && !on && !off) {
      return sponsorshipOutcome((await client.sponsorships.get({ id })).data)
    }
    const lamports = budget === undefined ? undefined : String(rawUnits(budget, LAMPORT_DECIMALS, '--budget'))
    // Nobody can replace the list of a sponsorship that has started.
    const isBeginning = !off && (await nullIfNotFound(client.sponsorships.get({ id }))) === null
    const record = isNamed || isBeginning ? await storedRecord(session, id) : undefined
    if (record !== undefined) await requireNamedList(session, [record], { ...meant, roots: rootsOf(root) })
    const { data } = await client.sponsorships.update({
      id,
      ...(lamports === undefined ? {} : { budget: lamports }),
      ...(record === undefined ? {} : { root: record.root }),
      ...(on || off ? { enabled: on } : {}),
    })
    if (!off) await warnIfPoor(session, data)
    return sponsorshipOutcome(data)
  },
})

/** The wallet pays claim by claim, so it may be topped up later: svc warns, and refuses nothing. */
async function warnIfPoor(session: Session, { left }: Sponsorship): Promise<void> {
  const { client, ui } = session
  // A key with airdrop:admin alone may not read the signer.
  const signer = await client.signer.get().catch(() => null)
  const address = signer?.data.address ?? null
  if (address === null) return
  const held = await readLamports(session, address)
  if (held >= BigInt(left)) return
  ui.warn(
    `the platform wallet has ${solOf(held)} SOL, and ${solOf(BigInt(left))} SOL of the budget are left: send SOL to ${address}`,
  )
}

const sponsorshipOutcome = (data: Sponsorship): CommandOutcome => ({
  data,
  record: inWhole(data, { budget: LAMPORT_DECIMALS, used: LAMPORT_DECIMALS, left: LAMPORT_DECIMALS }),
})
