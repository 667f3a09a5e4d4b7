/** A token is launched on a curve, traded, its fees split, migrated and claimed again: every amount against the chain. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import { createOnChain } from './on-chain.ts'
import type { Options } from './program.ts'

const NEEDED = ['Meteora DBC', 'Meteora DAMM v2', 'Metaplex Token Metadata']
const TOKEN_ACCOUNT_BYTES = 165
const SHARES = [500, 700, 900, 1000, 1000, 1100, 1100, 1200, 1200, 1300]
const RESERVE = 1_000_000n

export async function launch({ dataDir, daemon, report }: Options): Promise<void> {
  const chain = createOnChain({ dataDir, daemon, report })
  if (!(await chain.has('a launch on a bonding curve', NEEDED))) return
  const { file, lamports, tokens } = chain
  const wallets: Record<string, string> = {}
  let [pool, mint, migrated] = ['', '', '']
  const rent = await daemon.rent(TOKEN_ACCOUNT_BYTES)

  await report.step('the platform wallet gets its limits, creator and traders their SOL', async () => {
    for (const [name, sol] of [
      ['platform', '5'],
      ['creator', '5'],
      ['anna', '50'],
      ['ben', '50'],
      ['cleo', '200'],
    ] as const) {
      wallets[name] = (await daemon.svc('localnet', 'wallet', file(name), sol)).address
    }
    const { policy } = await daemon.svc(
      'signer',
      'policy',
      '--per-transaction',
      '2',
      '--per-day',
      '10',
      '--max-fee',
      '0.01',
      '--yes',
    )
    report.expect(policy.lamports_per_day === '10000000000', 'ten SOL a day')
    return Object.keys(wallets).join(', ')
  })
  await report.step('svc pools create: image, metadata, config, pool and first buy; live', async () => {
    const image = join(dataDir, 'demo.png')
    writeFileSync(image, drawn())
    const made = await daemon.svc(
      ...['pools', 'create', '--name', 'Demo Launch', '--symbol', 'LNCH', '--image', image, '--buy', '0.5'],
      ...['-k', file('creator'), '--yes'],
    )
    report.expect(made.status === 'live' && made.signatures.length === 2, `status ${made.status}`)
    ;[pool, mint] = [made.address, made.base_mint]
    const metadata = (await (await fetch(made.metadata_uri)).json()) as { symbol: string; image: string }
    report.expect(metadata.symbol === 'LNCH' && metadata.image.startsWith('http'), 'its metadata is served')
    report.expect((await tokens(wallets.creator!, mint)) > 0n, 'the creator holds the first tokens')
    return pool
  })
  /** Trades, and checks both sides of it against the chain. */
  const swap = async (at: string, who: string, ...order: string[]) => {
    const address = wallets[who]!
    const before = [await lamports(address), await tokens(address, mint)] as const
    const done = await daemon.svc('pools', 'swap', at, ...order, '-k', file(who), '--yes')
    const [sol, units] = [(await lamports(address)) - before[0], (await tokens(address, mint)) - before[1]]
    const { fee } = await daemon.fee(done.signature)
    const [paid, received] =
      done.side === 'buy' ? [-sol - fee - (before[1] === 0n ? rent : 0n), units] : [-units, sol + fee]
    report.expect(paid === BigInt(done.amount_in), `${who} paid ${paid}, quoted ${done.amount_in}`)
    report.expect(received === BigInt(done.estimated_out), `${who} received ${received}, quoted ${done.estimated_out}`)
    return done
  }
  await report.step('three buy and one sells, each exactly as quoted', async () => {
    await swap(pool, 'anna', '--buy', '3')
    await swap(pool, 'ben', '--buy', '4.25')
    await swap(pool, 'cleo', '--buy', '1.000000007')
    await swap(pool, 'anna', '--sell', '1000000.5')
    const { progress } = await daemon.svc('pools', 'progress', pool)
    report.expect(progress > 0.05 && progress < 1, `progress ${progress}`)
    return `${(progress * 100).toFixed(1)} % of the curve`
  })
  await report.step('the fees are claimed and split ten ways in one transaction, to the lamport', async () => {
    const recipients: string[] = []
    for (let i = 0; i < SHARES.length; i++) {
      recipients.push((await daemon.svc('localnet', 'wallet', file(`share-${i}`), '0.001')).address)
    }
    const owed = BigInt((await daemon.svc('fees', 'metrics', pool)).partner_quote_fee)
    const split = recipients.map((address, i) => `${address}:${SHARES[i]}`).join(',')
    const before = await lamports(wallets.platform!)
    const claim = await daemon.svc('fees', 'claim', pool, '--signed', '--split', split, '--yes')
    report.expect(BigInt(claim.estimated_quote) === owed, 'all that is owed')
    let sum = 0n
    for (const [i, address] of recipients.entries()) {
      const share = (await lamports(address)) - RESERVE
      const off = share * 10_000n - owed * BigInt(SHARES[i]!)
      report.expect(off > -10_000n && off < 10_000n, `share ${i} is ${share}`)
      sum += share
    }
    report.expect(sum === owed, `${sum} of ${owed} given out`)
    const { fee } = await daemon.fee(claim.signature)
    const cost = before - (await lamports(wallets.platform!))
    report.expect(cost === fee + rent, `the platform wallet paid ${cost}`)
    return `${owed} lamports`
  })
  await report.step('the last buy fills the curve, and the platform wallet migrates it', async () => {
    const last = await swap(pool, 'cleo', '--buy', '150')
    report.expect(BigInt(last.amount_in) < 150_000_000_000n, 'SOL beyond the end of the curve is not spent')
    for (let tries = 0; migrated === '' && tries < 60; tries++) {
      await daemon.svc('localnet', 'advance', '3')
      const after = (await daemon.svc('pools', 'list', '--type', 'damm_v2')) as { address: string; base_mint: string }[]
      migrated = after.find((each) => each.base_mint === mint)?.address ?? ''
      if (migrated === '') await new Promise((done) => setTimeout(done, 500))
    }
    const { status } = await daemon.svc('pools', 'get', pool)
    report.expect(status === 'migrated' && migrated !== '', `status ${status}`)
    return migrated
  })
  await report.step('it trades on there, and its fees are claimed to the lamport', async () => {
    await swap(migrated, 'ben', '--buy', '2')
    await swap(migrated, 'ben', '--sell', '500000')
    const before = await lamports(wallets.platform!)
    const claim = await daemon.svc('fees', 'claim', pool, '--kind', 'damm_v2', '--signed', '--yes')
    const { fee } = await daemon.fee(claim.signature)
    const gain = (await lamports(wallets.platform!)) - before
    report.expect(gain === BigInt(claim.estimated_quote) - fee, `gained ${gain}`)
    const surplus = await daemon.svc('fees', 'claim', pool, '--kind', 'surplus', '--signed', '--yes').catch(String)
    report.expect(/nothing to claim/.test(String(surplus)), 'a curve that is filled exactly leaves no surplus')
    return `${claim.estimated_quote} lamports`
  })
  await report.step('events report every step, and the audit log every signature', async () => {
    const life = ['pool.created', 'pool.live', 'fee_claim.split_executed', 'pool.migration_triggered', 'pool.migrated']
    const told = (await chain.eventsAbout([pool], '')).filter((type) => life.includes(type))
    report.expect(told.join() === life.join(), told.join(', '))
    const { intact, entries } = await daemon.svc('audit', 'verify')
    report.expect(intact && entries >= 7, `${entries} entries`)
    return `${told.join(', ')}; ${entries} audit entries`
  })
}

/** A small PNG, drawn here. */
function drawn(): Buffer {
  const side = 64
  const rows = Buffer.concat(
    Array.from({ length: side }, (_, y) =>
      Buffer.from([0, ...Array.from({ length: side }, (_, x) => [x * 4, y * 4, 160]).flat()]),
    ),
  )
  const chunk = (name: string, content: Buffer) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), content])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(content.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const header = Buffer.from([0, 0, 0, side, 0, 0, 0, side, 8, 2, 0, 0, 0])
  const start = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  return Buffer.concat([start, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}
