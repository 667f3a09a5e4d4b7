/** A claim that sells what it was given in the token's own pool, by the command. */
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { commandLine } from '../cli/command-line.ts'
import { type Served, serveHere } from '../cli/served.ts'
import { png } from '../storage/images.ts'
import { hasProgram } from '../support/programs.ts'
import { CLAIM_STATUS_RENT, TOKEN_ACCOUNT_RENT } from '../support/rent.ts'

const cli = commandLine()
const ok = cli.json
const lacksPrograms = [PROGRAMS.distributor, PROGRAMS.tokenMetadata, PROGRAMS.dbc].some(({ id }) => !hasProgram(id))

describe.skipIf(lacksPrograms)('svc airdrops claim --swap-to-sol', () => {
  const seller = Keypair.generate()
  const files = { payer: cli.keypair('payer.json').file }
  let daemon: Served

  beforeAll(async () => {
    await cli.svc(['localnet', 'status'])
    const platform = cli.keypair('platform.json')
    daemon = await serveHere(cli.dataDir, { SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: platform.file })
    const { address } = await ok(['wallet', 'address', files.payer])
    for (const wallet of [address, platform.address, seller.publicKey.toBase58()])
      await ok(['localnet', 'airdrop', wallet, '10'])
  })
  afterAll(() => daemon?.stop())

  it('sells the tokens if they have a pool', async () => {
    const logo = cli.file('logo.png', png())
    const pool = ['pools', 'create', '--name', 'Sold', '--symbol', 'SOLD', '--image', logo, '--buy', '1']
    const { base_mint } = await ok([...pool, '-k', files.payer, '--yes'])
    const list = cli.file('sold.csv', `${seller.publicKey},5000\n`)
    const launch = ['airdrops', 'launch', list, '--mint', base_mint, '--decimals', '6', '-k', files.payer, '--yes']
    const [{ id: sold }] = await ok(launch)
    const lamports = async () => BigInt((await ok(['accounts', 'get', String(seller.publicKey)])).lamports)
    const before = await lamports()
    const args = ['airdrops', 'claim', sold, '--swap-to-sol', '-k', cli.keypair('seller.json', seller).file, '--yes']
    await cli.refused(args, 'needs --min-sol')
    const greedy = await cli.svc([...args, '--min-sol', '50', '--dry-run'])
    expect(greedy.exitCode).toBe(0)
    const done = await ok([...args, '--min-sol', '0.0000001'])
    expect(done).toMatchObject({ airdrop: sold, signature: expect.any(String), swap_signature: expect.any(String) })
    const { address } = await ok(['pdas', 'derive', 'ata', `owner=${seller.publicKey}`, `mint=${base_mint}`])
    const left = await ok(['accounts', 'get', address])
    expect(Buffer.from(left.data, 'base64').readBigUInt64LE(64)).toBe(0n)
    // Rent of the claim and the token account, two fees, and less than that is what 5,000 tokens bring.
    expect(before - (await lamports())).toBeLessThan(CLAIM_STATUS_RENT + TOKEN_ACCOUNT_RENT + 1_000_000n)
  })
})
