/** Gold is locked in a wallet for a week, refused before its time, and taken back with the rent: each state from the chain. */
import { join } from 'node:path'
import { createOnChain } from './on-chain.ts'
import { isConfirmed, type Options, type Place, svc } from './program.ts'

const DAYS = 7
/** Bytes of the lock, and of its token account (Token-2022). */
const LOCK_BYTES = [296, 170]

/** The gold token is configuration: it is there before the daemon starts. Answers its mint. */
export async function makeGold(place: Place): Promise<string> {
  let mint = ''
  await place.report.step('a gold token is made, without a daemon', async () => {
    const wallet = join(place.dataDir, 'gold.json')
    await svc(place, 'localnet', 'wallet', wallet, '2')
    const texts = ['--name', 'Demo Gold', '--symbol', 'GLD', '--uri', 'https://example.com/gold.json']
    const made = await svc(
      ...([place, 'tokens', 'create', ...texts, '--supply', '100', '--token-program', 'token2022'] as const),
      ...['-k', wallet, '--yes'],
    )
    place.report.expect(isConfirmed(made), `lifecycle ${made.lifecycle}`)
    mint = made.mint
    return mint
  })
  return mint
}

export async function gold({ dataDir, daemon, report }: Options): Promise<void> {
  const chain = createOnChain({ dataDir, daemon, report })
  if (!(await chain.has('a gold lock', ['Jupiter Lock']))) return
  const { file, tokens, lamports } = chain
  const { mint } = await daemon.svc('gold', 'token')
  const { address } = await daemon.svc('localnet', 'wallet', file('gold'), '1')
  let held = 0n
  const rents = await Promise.all(LOCK_BYTES.map((bytes) => daemon.rent(bytes)))
  const rent = rents.reduce((sum, each) => sum + each, 0n)

  await report.step('svc gold lock: locked for a week, no one can cancel it', async () => {
    held = await tokens(address, mint, 'token2022')
    const before = await lamports(address)
    const lock = await daemon.svc('gold', 'lock', '--amount', '40', '--days', String(DAYS), '-k', file('gold'), '--yes')
    report.expect(
      held - (await tokens(address, mint, 'token2022')) === 40_000_000n,
      'forty whole tokens left the wallet',
    )
    const { status, amount, unlocks_at } = await daemon.svc('gold', 'get', address)
    report.expect(status === 'locked' && amount === '40000000', `${status}, ${amount}`)
    report.expect(unlocks_at === lock.unlocks_at, 'until the same moment on chain')
    const early = await daemon.svc('gold', 'unlock', '-k', file('gold'), '--yes').catch(String)
    report.expect(/day/.test(early), 'unlocking before its time is refused, with the time left')
    const again = await daemon
      .svc('gold', 'lock', '--amount', '1', '--days', '1', '-k', file('gold'), '--yes')
      .catch(String)
    report.expect(/has a gold lock/.test(again), 'a wallet has one lock at a time')
    const { fee } = await daemon.fee(lock.signature)
    report.expect(before - (await lamports(address)) === rent + fee, 'it paid the rent and the fee')
    return `40 tokens until ${unlocks_at}`
  })
  await report.step(
    'when its time comes, an event reports it, and svc gold unlock returns tokens and rent',
    async () => {
      await daemon.svc('localnet', 'advance', String(DAYS * 86_400 + 60))
      let told: string[] = []
      for (let tries = 0; !told.includes('gold.unlock_eligible') && tries < 100; tries++) {
        await new Promise((done) => setTimeout(done, 300))
        told = await chain.eventsAbout([address], 'gold.')
      }
      report.expect(told.join() === 'gold.locked,gold.unlock_eligible', told.join(', '))
      const before = await lamports(address)
      const done = await daemon.svc('gold', 'unlock', '-k', file('gold'), '--yes')
      const { fee } = await daemon.fee(done.signature)
      report.expect((await tokens(address, mint, 'token2022')) === held, 'every token is back')
      const returned = (await lamports(address)) - before + fee
      report.expect(returned === rent, `${returned} lamports of rent came back`)
      const { status } = await daemon.svc('gold', 'get', address)
      report.expect(status === 'unlocked', status)
      const all = await chain.eventsAbout([address], 'gold.')
      report.expect(all.join() === 'gold.locked,gold.unlock_eligible,gold.unlocked', all.join(', '))
      return `${returned} lamports of rent back`
    },
  )
}
