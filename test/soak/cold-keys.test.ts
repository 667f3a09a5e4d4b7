/** Cold keys in long stories: an airdrop from its token to its claim, and a pool from its launch to its fees. */
import { describe, expect, it } from 'vitest'
import { coldKey, lacksPrograms } from '../cli/cold-key.ts'
import { CONFIRMED, commandLine } from '../cli/command-line.ts'
import { someone } from '../support/local-chain.ts'

const cli = commandLine()

describe.skipIf(lacksPrograms)('A key on another machine', () => {
  const { address, run, roundTrip, logo } = coldKey(cli)

  it('creates a token, puts its airdrop on chain, and claims its own share', async () => {
    const token = ['tokens', 'create', '--name', 'Cold', '--symbol', 'CLD', '--uri', 'https://example.com/c.json']
    const { built, landed } = await roundTrip([...token, '--supply', '1000', '--payer', address], ['cold'])
    expect(landed).toMatchObject({ lifecycle: CONFIRMED, err: null })
    expect((await run(['tokens', 'get', built.mint])).raw).toMatchObject({
      supply: '1000000000',
      mint_authority: address,
    })

    const list = cli.file('list.csv', `${someone().toBase58()},250\n${address},250\n`)
    const tree = await run(['merkle', 'build', list, '--mint', built.mint, '--decimals', '6', '--persist'])
    const airdrop = await roundTrip(['airdrops', 'init', tree.id, '--payer', address], ['cold'])
    expect(airdrop.landed).toMatchObject({ lifecycle: CONFIRMED })
    const state = await run(['airdrops', 'get', tree.id])
    expect(state).toMatchObject({ status: 'initialized', vault_balance: '500000000' })
    await roundTrip(['airdrops', 'claim', tree.id, '--payer', address], ['cold'])
    expect(await run(['airdrops', 'get', tree.id])).toMatchObject({ vault_balance: '250000000' })
  })

  it('launches a pool in several transactions, and claims its fees with splits together with a second key', async () => {
    const create = ['pools', 'create', '--name', 'Cold Launch', '--symbol', 'COLD', '--image', logo, '--buy', '10']
    const { built, landed } = await roundTrip([...create, '--creator', address], ['cold'])
    expect(landed.transactions.map(({ lifecycle }: { lifecycle: string }) => lifecycle)).toEqual(
      built.transactions.map(() => CONFIRMED),
    )
    expect(await run(['pools', 'verify', built.address])).toMatchObject({ verified: true })

    const [one, other] = [someone().toBase58(), someone().toBase58()]
    const split = ['--split', `${one}:7500,${other}:2500`, '--payer', address, '--tx-version', '1']
    const claim = ['fees', 'claim', built.address, ...split]
    const claimed = await roundTrip(claim, ['cold', 'device'])
    expect(claimed.landed).toMatchObject({ lifecycle: CONFIRMED })
    const shares = await Promise.all(
      [one, other].map(async (wallet) => (await run(['accounts', 'get', wallet])).lamports),
    )
    expect(shares).toEqual(['60000000', '20000000'])
  })
})
