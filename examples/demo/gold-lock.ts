/** Gold is locked for thirty days, which pass in a moment, told of and taken back: tokens and lamports against the chain. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Daemon, startDaemon } from './program.ts'
import type { Report } from './report.ts'

interface Options {
  root: string
  dataDir: string
  report: Report
}

const DAYS = 30
/** Of the lock and of its token account (Token-2022). */
const RENT = 2_951_040n + 2_074_080n
const HELD = 1_000_000_000n
const LOCKED = 250_000_000n

/** On a chain of its own, as the gold token has to be there before the daemon starts. */
export async function goldLock({ root, dataDir, report }: Options): Promise<void> {
  const own = join(dataDir, 'gold')
  mkdirSync(own)
  const keypair = join(own, 'holder.json')
  const first = await startDaemon({ root, dataDir: own, report })
  let [address, mint] = ['', '']
  try {
    const { programs } = (await first.svc('localnet', 'status')) as { programs: { name: string; loaded: boolean }[] }
    if (!programs.some(({ name, loaded }) => name === 'Jupiter Lock' && loaded)) {
      report.skip('a gold lock', 'Jupiter Lock: fill the cache with `svc localnet pull`')
      return
    }
    await report.step('a wallet makes the token that becomes gold', async () => {
      address = (await first.svc('localnet', 'wallet', keypair, '5')).address
      const texts = ['--name', 'Gold', '--symbol', 'GLD', '--uri', 'https://example.com/gold.json']
      const amount = ['--supply', '1000', '--token-program', 'token2022']
      mint = (await first.svc('tokens', 'create', ...texts, ...amount, '-k', keypair, '--yes')).mint
      return mint
    })
  } finally {
    await first.stop()
  }
  const daemon = await startDaemon({ root, dataDir: own, report, env: { SVC_GOLD_MINT: mint } })
  try {
    await lockAndUnlock({ daemon, keypair, address, mint, report })
  } finally {
    await daemon.stop()
  }
}

interface Life {
  daemon: Daemon
  keypair: string
  address: string
  mint: string
  report: Report
}

async function lockAndUnlock({ daemon, keypair, address, mint, report }: Life): Promise<void> {
  const lamports = async () => BigInt((await daemon.svc('accounts', 'get', address)).lamports)
  const units = async () => {
    const kind = ['ata', `owner=${address}`, `mint=${mint}`, 'token_program=token2022']
    const account = await daemon.svc('accounts', 'get', (await daemon.svc('pdas', 'derive', ...kind)).address)
    return Buffer.from(account.data, 'base64').readBigUInt64LE(64)
  }
  const typesOf = async (): Promise<string[]> => {
    const all = (await daemon.svc('events', 'list', '--all')) as { type: string; sequence: number }[]
    return all
      .sort((a, b) => a.sequence - b.sequence)
      .map(({ type }) => type)
      .filter((type) => type.startsWith('gold.'))
  }
  const start = await lamports()
  let paid = 0n
  await report.step(`svc gold lock: a quarter of it for ${DAYS} days`, async () => {
    const done = await daemon.svc('gold', 'lock', '--amount', '250', '--days', String(DAYS), '-k', keypair, '--yes')
    paid += (await daemon.fee(done.signature)).fee
    report.expect((await units()) === HELD - LOCKED, 'what is locked left the wallet')
    report.expect(start - (await lamports()) === RENT + paid, 'it paid the rent and the fee')
    const { status, seconds_left } = await daemon.svc('gold', 'get', address)
    report.expect(status === 'locked' && seconds_left > (DAYS - 1) * 86_400, `status ${status}`)
    return `until ${done.unlocks_at}`
  })
  await report.step('nobody gets it out before its time', async () => {
    const early = await daemon.svc('gold', 'unlock', '-k', keypair, '--yes').catch(String)
    report.expect(/is locked for another (29|30) days/.test(String(early)), 'refused, with the time left')
    const second = await daemon
      .svc('gold', 'lock', '--amount', '1', '--days', '1', '-k', keypair, '--yes')
      .catch(String)
    report.expect(/has a gold lock of 250000000 raw units already/.test(String(second)), 'one at a time')
    return 'refused'
  })
  await report.step('the days pass, and it is told of', async () => {
    await daemon.svc('localnet', 'advance', String(DAYS * 86_400))
    for (let tries = 0; !(await typesOf()).includes('gold.unlock_eligible') && tries < 60; tries++) {
      await new Promise((done) => setTimeout(done, 500))
    }
    const [lock] = await daemon.svc('gold', 'list')
    report.expect(lock.status === 'unlockable', `status ${lock.status}`)
    return 'gold.unlock_eligible'
  })
  await report.step('svc gold unlock: all of it, and the rent', async () => {
    const done = await daemon.svc('gold', 'unlock', '-k', keypair, '--yes')
    paid += (await daemon.fee(done.signature)).fee
    report.expect((await units()) === HELD, 'every token is back')
    report.expect(start - (await lamports()) === paid, 'it cost the fees alone')
    const told = (await typesOf()).join(', ')
    report.expect(told === 'gold.locked, gold.unlock_eligible, gold.unlocked', told)
    return told
  })
}
