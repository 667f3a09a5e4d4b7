/** A raise with its pool, from the sale to the last claim, and one that fails and pays back: every figure from the chain. */
import { createOnChain } from './on-chain.ts'
import type { Options } from './program.ts'

const HOUR = 3_600

export async function raise({ dataDir, daemon, report }: Options): Promise<void> {
  const chain = createOnChain({ dataDir, daemon, report })
  if (!(await chain.has('a raise', ['Meteora Presale', 'Meteora DAMM v2', 'Metaplex Token Metadata']))) return
  const { file, tokens, lamports } = chain
  const svc = (...args: string[]) => daemon.svc(...args, '--yes')
  const own = ['-k', file('raiser')]
  const terms = ['--sale-mode', 'fixed_price', '--price', '0.001', '--min', '1', '--max', '4', '--ends', '2h']
  const buyers: string[] = []
  let [mint, id, failed] = ['', '', '']

  await report.step('svc raises create: a sale with the plan of its pool', async () => {
    const { address } = await daemon.svc('localnet', 'wallet', file('raiser'), '5')
    const texts = ['--name', 'Demo Raise', '--symbol', 'RAISE', '--uri', 'https://example.com/raise.json']
    mint = (await svc('tokens', 'create', ...texts, '--supply', '100000', ...own)).mint
    const held = await svc('raises', 'create', mint, ...terms, ...own).catch(String)
    report.expect(/authority/.test(held), 'a mint authority that is still held is refused')
    await svc('tokens', 'revoke', mint, 'mint', ...own)
    const before = await tokens(address, mint)
    id = (await svc('raises', 'create', mint, ...terms, '--then-pool', 'standard', ...own)).id
    report.expect(before - (await tokens(address, mint)) === 4_000_000_000n, 'four thousand tokens are for sale')
    failed = (await svc('raises', 'create', mint, ...terms, ...own)).id
    return id
  })
  await report.step('two buyers deposit, and nobody settles before the end', async () => {
    for (const [i, amount] of ['1', '2', '0.5'].entries()) {
      buyers.push((await daemon.svc('localnet', 'wallet', file(`buyer-${i}`), '3')).address)
      await svc('raises', 'deposit', i === 2 ? failed : id, amount, '-k', file(`buyer-${i}`))
    }
    const { state, deposited } = await daemon.svc('raises', 'get', id)
    report.expect(state === 'ongoing' && deposited === '3000000000', `${state}, ${deposited} lamports`)
    return '3 SOL from two buyers'
  })
  await report.step('svc raises settle: what was raised, the pool and its lock in one transaction', async () => {
    await daemon.svc('localnet', 'advance', String(2 * HOUR + 60))
    const pool = ['--pool-quote', '1500000000', '--pool-tokens', '1500000000', '--raw', '--then-pool', 'standard']
    const done = await svc('raises', 'settle', id, ...pool, ...own)
    report.expect(done.acts.slice(0, 3).join() === 'withdraw,open_pool,lock_liquidity', done.acts.join())
    const opened = await daemon.svc('accounts', 'get', done.pool_address)
    report.expect(opened.data !== '', 'the pool is on chain')
    const early = await svc('raises', 'claim', id, '-k', file('buyer-0')).catch(String)
    report.expect(!early.startsWith('[object'), 'buyers claim only after the lock')
    return `pool ${done.pool_address}`
  })
  await report.step('buyers claim to the unit, and a failed raise pays back to the lamport', async () => {
    await daemon.svc('localnet', 'advance', String(HOUR))
    for (const [i, due] of [1_000_000_000n, 2_000_000_000n].entries()) {
      await svc('raises', 'claim', id, '-k', file(`buyer-${i}`))
      report.expect((await tokens(buyers[i] ?? '', mint)) === due, `${due} units`)
    }
    const before = await lamports(buyers[2] ?? '')
    const { amount } = await svc('raises', 'refund', failed, '-k', file('buyer-2'))
    report.expect(amount === '500000000', `${amount} lamports`)
    report.expect((await lamports(buyers[2] ?? '')) - before > 500_000_000n, 'the deposit and the rent are back')
    return 'two claims, one refund'
  })
}
