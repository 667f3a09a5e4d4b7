/** The redactor: every writing of a configured credential goes, and nothing that is none. */
import { describe, expect, it } from 'vitest'
import { loadConfig, type SettingName } from '../../src/settings/config.ts'
import { redactorOf } from '../../src/settings/redaction.ts'

const of = (settings: Partial<Record<SettingName, string>>) =>
  redactorOf(loadConfig({ flags: settings, env: {}, cwd: '/' }))

describe('the redactor', () => {
  const url = 'https://ann:p%40ss-9Wq@rpc.example.com/v2/K3Y%2Fpath-77aa/?api-key=Q7x9-query-k3y&x=1'
  const redactor = of({ url })

  it('removes every spelling of a private URL from a message: whole, in part, encoded, decoded and as a header', () => {
    for (const said of [
      url,
      'rpc.example.com/v2/K3Y%2Fpath-77aa/?api-key=Q7x9-query-k3y&x=1',
      '/v2/K3Y%2Fpath-77aa/?api-key=Q7x9-query-k3y&x=1',
      '/v2/K3Y/path-77aa',
      '/v2/K3Y%2fpath-77aa',
      encodeURIComponent(url),
      url.replaceAll('/', '\\/'),
      url.replaceAll('&', '&amp;'),
      'ann:p%40ss-9Wq',
      'ann:p@ss-9Wq',
      `Basic ${Buffer.from('ann:p@ss-9Wq').toString('base64')}`,
      'the key Q7x9-query-k3y is over its quota',
    ]) {
      for (const text of [redactor.text(`failed at ${said} twice`), redactor.json(JSON.stringify({ at: said }))]) {
        expect(text, said).not.toMatch(/K3Y|path-77aa|Q7x9|9Wq/i)
      }
    }
    expect(redactor.text(`failed at ${encodeURIComponent('ann:p@ss-9Wq')}`)).not.toContain('9Wq')
    expect(redactor.text(Buffer.from('ann:p@ss-9Wq').toString('base64'))).toBe('***')
  })

  it('leaves the host, so that a message still says which node it is about', () => {
    expect(redactor.text('POST https://rpc.example.com/v2/K3Y%2Fpath-77aa/?api-key=Q7x9-query-k3y&x=1: 403')).toBe(
      'POST https://rpc.example.com/***: 403',
    )
  })

  it('keeps JSON valid and ordinary words unchanged', () => {
    const { json } = of({
      url: 'https://rpc.example.com/solana/mainnet-beta?commitment=confirmed&limit=12345678',
      'database-url': 'postgres://svc:postgres@10.0.0.1/svc',
      'price-url': 'https://prices.example.com/price/So11111111111111111111111111111111111111112',
    })
    const answer = JSON.stringify({
      database: 'postgres',
      lifecycle: 'confirmed',
      cluster: 'mainnet-beta',
      slot: 12345678,
      mint: 'So11111111111111111111111111111111111111112',
    })
    expect(json(answer)).toBe(answer)
    expect(
      JSON.parse(
        json(JSON.stringify({ at: 'rpc.example.com/solana/mainnet-beta?commitment=confirmed&limit=12345678' })),
      ),
    ).toEqual({
      at: 'rpc.example.com/***',
    })
  })

  it('knows secrets and URLs of every kind of setting, and leaves public settings as they are', () => {
    const secrets = {
      'encryption-key': 'b5c1'.repeat(16),
      'signer.vault-token': 'hvs.Tok3nTok3n',
      'signer.vault-url': 'https://vault.example.com/ns/V4ultPath99',
      'signer.turnkey-api-private-key': '7a'.repeat(32),
      'signer.turnkey-url': 'https://turnkey.example.com/T4rnkeyPath',
      'signer.privy-secret': 'Pr1vySecretText',
      'signer.privy-url': 'https://privy.example.com/Pr1vyPath99',
      'moderation-key': 'sk-M0derationKey',
      'moderation-url': 'https://moderation.example.com/M0dPath99',
      'metadata-url': 'https://das.example.com/?api-key=M3taKey99',
      'relay-url': 'https://relay.example.com/R3layPath99',
      'price-url': 'https://prices.example.com/?token=Pr1ceToken99',
      'database-url': 'postgres://svc:Dat4basePass@db.example.com/svc',
      'storage-proof': 'mAYIEAL3bEhEOqJ1',
    } as const
    const { text, json } = of(secrets)
    const said = Object.values(secrets).join(' and ')
    for (const clean of [text(said), json(said)]) {
      expect(clean).not.toMatch(/b5c1b5|Tok3n|V4ult|7a7a7a|T4rnkey|Pr1vy|M0d|M3taKey|R3lay|Pr1ce|Dat4base|AYIEAL/)
    }
    const open = of({ url: 'https://rpc.example.com/0penKey99', 'public-rpc-url': 'https://rpc.example.com/0penKey99' })
    expect(open.json('"https://rpc.example.com/0penKey99"')).toBe('"https://rpc.example.com/0penKey99"')
  })

  it('ends in time on a megabyte of hostile text, and on texts that nearly match', () => {
    const { text } = of({ 'moderation-key': `a${'1'.repeat(80)}X`, 'signer.vault-token': `${'a-'.repeat(60)}X` })
    // Backtracking would take hours, which is more than a test may take.
    for (const piece of ['a', '?key', '&keytoken', '?', '://', '://a', 'a=', '@', 'svc_live_', 'whsec_']) {
      text(piece.repeat(Math.ceil(1_000_000 / piece.length)))
    }
  })
})
