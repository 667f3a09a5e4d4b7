/**
 * Launches a list as an airdrop, lets its wallets claim, and returns unclaimed tokens; every balance is compared with
 * the chain.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createOnChain } from './on-chain.ts'
import type { Options } from './program.ts'

const WALLETS = 5
const DAYS = 3

export async function airdrop({ dataDir, daemon, report }: Options): Promise<void> {
  const chain = createOnChain({ dataDir, daemon, report })
  if (!(await chain.has('an airdrop', ['Jito merkle distributor', 'Metaplex Token Metadata']))) return
  const { file, tokens } = chain
  let [mint, id] = ['', '']
  const wallets: string[] = []

  await report.step('svc airdrops launch: a CSV is built, stored, put on chain and funded', async () => {
    const { address } = await daemon.svc('localnet', 'wallet', file('treasury'), '5')
    const texts = ['--name', 'Demo Drop', '--symbol', 'DROP', '--uri', 'https://example.com/drop.json']
    mint = (await daemon.svc('tokens', 'create', ...texts, '--supply', '10000000', '-k', file('treasury'), '--yes'))
      .mint
    for (let i = 0; i < WALLETS; i++) {
      wallets.push((await daemon.svc('localnet', 'wallet', file(`claimer-${i}`), '0.1')).address)
    }
    const others = readFileSync('examples/recipients.csv', 'utf8').trim().split('\n').slice(1)
    const list = join(dataDir, 'drop.csv')
    writeFileSync(list, [...wallets.map((wallet, i) => `${wallet},${i + 1}.25`), ...others, ''].join('\n'))
    const launch = ['airdrops', 'launch', list, '--mint', mint, '--decimals', '6', '-k', file('treasury'), '--yes']
    const before = await tokens(address, mint)
    const [made] = await daemon.svc(...launch, '--clawback-after-days', String(DAYS))
    id = made.id
    report.expect(made.funded && made.leaf_count === WALLETS + others.length, `${made.leaf_count} wallets`)
    report.expect(
      before - (await tokens(address, mint)) === BigInt(made.total),
      'the total, and no more, was deposited',
    )
    const [again] = await daemon.svc(...launch, '--clawback-after-days', String(DAYS))
    report.expect(again.distributor === made.distributor, 'a second run finds it done')
    report.expect(before - (await tokens(address, mint)) === BigInt(made.total), 'and deposits nothing')
    return `${made.leaf_count} wallets, ${made.total} units in ${made.distributor}`
  })
  await report.step('each wallet claims its amount, once', async () => {
    for (const [i, wallet] of wallets.entries()) {
      const [entitled] = await daemon.svc('airdrops', 'eligibility', wallet)
      report.expect(entitled.id === id && entitled.claimable, `${wallet} can claim`)
      await daemon.svc('airdrops', 'claim', id, '-k', file(`claimer-${i}`), '--yes')
      const due = BigInt(i + 1) * 1_000_000n + 250_000n
      report.expect((await tokens(wallet, mint)) === due, `${due} units`)
    }
    const again = await daemon.svc('airdrops', 'claim', id, '-k', file('claimer-0'), '--yes').catch(String)
    report.expect(/claimed/.test(again), 'a second claim is refused')
    const { status, claimed_count } = await daemon.svc('airdrops', 'status', id)
    report.expect(status === 'claiming' && claimed_count === WALLETS, `${status}, ${claimed_count} claims`)
    return `${WALLETS} claims`
  })
  await report.step('unclaimed tokens return after the clawback time, and not before', async () => {
    const owner = await daemon.svc('airdrops', 'get', id)
    const withdraw = ['airdrops', 'withdraw', id, '--admin', owner.admin, '--yes']
    const early = await daemon.svc(...withdraw).catch(String)
    report.expect(/ended with 2/.test(early), 'too early')
    await daemon.svc('localnet', 'advance', String((DAYS + 1) * 86_400))
    const before = await tokens(owner.admin, mint)
    const { amount } = await daemon.svc(...withdraw)
    report.expect((await tokens(owner.admin, mint)) - before === BigInt(amount), `${amount} units came back`)
    const { status } = await daemon.svc('airdrops', 'get', id)
    report.expect(status === 'vault_drained', status)
    return `${amount} units`
  })
  await report.step('events report every step', async () => {
    const told = await chain.eventsAbout([id], 'airdrop.')
    const expected = [
      'airdrop.tree_built',
      'airdrop.initialized',
      'airdrop.claim_started',
      ...wallets.map(() => 'airdrop.claimed'),
      'airdrop.vault_drained',
    ]
    report.expect(told.join() === expected.join(), told.join(', '))
    return `${told.length} events`
  })
}
