/** A Token-2022 token is made on the embedded chain, finalized, its mint authority given up, and every event printed. */
import { join } from 'node:path'
import pc from 'picocolors'
import { isConfirmed, type Options } from './program.ts'

interface Told {
  type: string
  sequence: number
  data: { object: { resource_id: string; source?: string } }
}

export async function token({ dataDir, daemon, report }: Options): Promise<void> {
  const keypair = join(dataDir, 'demo-wallet.json')
  let mint = ''
  const signatures: string[] = []
  await report.step('a wallet gets SOL of the embedded chain', async () => {
    const { address, balance } = await daemon.svc('localnet', 'wallet', keypair, '5')
    report.expect(balance === '5000000000', `${balance} lamports`)
    return `${address}, 5 SOL`
  })
  await report.step('svc tokens create: built, tried, signed, submitted, confirmed', async () => {
    const texts = ['--name', 'Demo Token', '--symbol', 'DEMO', '--uri', 'https://example.com/demo.json']
    const amounts = ['--supply', '1000000', '--token-program', 'token2022']
    const made = await daemon.svc('tokens', 'create', ...texts, ...amounts, '-k', keypair, '--yes')
    report.expect(isConfirmed(made), `lifecycle ${made.lifecycle}`)
    mint = made.mint
    signatures.push(made.signature)
    const { status, raw } = await daemon.svc('tokens', 'get', mint)
    report.expect(status === 'freeze_authority_revoked', `status ${status}`)
    report.expect(raw.supply === '1000000000000' && raw.metadata.name === 'Demo Token', 'supply and name on chain')
    return mint
  })
  await report.step('it is finalized, without anybody asking', async () => {
    await daemon.svc('localnet', 'advance', '20')
    const state = await daemon.svc('tx', 'watch', signatures[0]!, '--until', 'finalized')
    report.expect(state.lifecycle === 'finalized', `lifecycle ${state.lifecycle}`)
    return signatures[0]!
  })
  await report.step('its mint authority is permanently revoked', async () => {
    const revoked = await daemon.svc('tokens', 'revoke', mint, 'mint', '-k', keypair, '--yes')
    signatures.push(revoked.signature)
    const { status, raw } = await daemon.svc('tokens', 'get', mint)
    report.expect(status === 'mint_authority_revoked' && raw.mint_authority === null, `status ${status}`)
    const again = await daemon.svc('tokens', 'revoke', mint, 'mint', '-k', keypair, '--yes').catch((error) => error)
    report.expect(again instanceof Error && /already revoked/.test(again.message), 'a second time is refused')
    return 'mint_authority_revoked'
  })
  await report.step('every step was an event, each once', async () => {
    const about = new Set([mint, ...signatures])
    const all: Told[] = await daemon.svc('events', 'list', '--all')
    const own = all
      .filter(({ data }) => about.has(data.object.resource_id))
      // The revocation may be finalized by now.
      .filter(({ type, data }) => type !== 'transaction.finalized' || data.object.resource_id === signatures[0])
      .sort((a, b) => a.sequence - b.sequence)
    const expected = {
      'transaction.submitted': 2,
      'transaction.confirmed': 2,
      'transaction.finalized': 1,
      'token.created': 1,
      'token.freeze_authority_revoked': 1,
      'token.mint_authority_revoked': 1,
    }
    for (const [type, count] of Object.entries(expected)) {
      const seen = own.filter((event) => event.type === type).length
      report.expect(seen === count, `${seen} × ${type}`)
    }
    report.expect(own.length === 8, `${own.length} events`)
    const lines = own.map(({ sequence, type, data }) => `\n    ${sequence} ${type} ${pc.dim(data.object.resource_id)}`)
    return `${own.length} events${lines.join('')}\n   `
  })
}
