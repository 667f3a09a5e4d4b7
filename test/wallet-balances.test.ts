/** What a wallet holds, through the app on the embedded chain; and node answers that show what is not its own. */
import { PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { readHoldings } from '../src/chain/programs/tokens/index.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../src/solana/program-ids.ts'
import { commandLine } from './cli/command-line.ts'
import { sharedService } from './support/service.ts'
import { extended, mintData, tokenAccountData } from './support/token-accounts.ts'
import { someAddress } from './support/wallets.ts'

const accountData = (mint: string, owner: string, amount: bigint, frozen = false) =>
  tokenAccountData(new PublicKey(mint).toBuffer(), { owner: new PublicKey(owner).toBuffer(), amount, frozen })

const shared = sharedService()

async function funded() {
  const service = await shared()
  const chain = await service.services.chain.local()
  const put = (address: string, owner: string, data: Uint8Array, lamports = 10_000_000n) =>
    chain.setAccount(address, { lamports, owner, executable: false, data })
  const mint = (decimals: number, program = TOKEN_PROGRAM) => {
    const address = someAddress()
    put(address, program, mintData(decimals))
    return address
  }
  const ask = async (wallet: string, query = '') => {
    const { status, json } = await service.request('GET', `/v2/wallets/${wallet}/balances${query}`)
    return { status, data: json.data, error: json.error }
  }
  return { service, put, mint, ask }
}

describe('the balances of a wallet', () => {
  it('are its SOL and what it holds of both token programs, exact, with labels; nothing of anybody else', async () => {
    const { put, mint, ask } = await funded()
    const wallet = someAddress()
    put(wallet, '11111111111111111111111111111111', Buffer.alloc(0), 2n ** 60n + 1n)
    const [plain, guarded, closed] = [mint(6), mint(2, TOKEN_2022_PROGRAM), someAddress()]
    const accounts = Array.from({ length: 6 }, someAddress)
    put(accounts[0]!, TOKEN_PROGRAM, accountData(plain, wallet, 2n ** 64n - 1n))
    put(accounts[1]!, TOKEN_2022_PROGRAM, extended(accountData(guarded, wallet, 5n, true), 2, [[7, Buffer.alloc(0)]]))
    put(accounts[2]!, TOKEN_PROGRAM, accountData(plain, wallet, 0n))
    put(accounts[3]!, TOKEN_PROGRAM, accountData(WRAPPED_SOL, wallet, 7n))
    put(accounts[4]!, TOKEN_PROGRAM, accountData(plain, someAddress(), 9n))
    put(accounts[5]!, TOKEN_PROGRAM, accountData(closed, wallet, 3n))
    const { status, data } = await ask(wallet)
    expect(status).toBe(200)
    expect(data).toMatchObject({ wallet, lamports: '1152921504606846977', empty_accounts: 1, truncated: false })
    const of = (mint: string) => data.tokens.filter((token: { mint: string }) => token.mint === mint)
    expect(data.tokens.map(({ mint }: { mint: string }) => mint)).toEqual([plain, guarded, WRAPPED_SOL, closed].sort())
    expect(of(plain)).toEqual([
      {
        mint: plain,
        account: accounts[0],
        amount: '18446744073709551615',
        decimals: 6,
        symbol: null,
        name: null,
        token_program: 'spl',
        frozen: false,
      },
    ])
    expect(of(guarded)).toMatchObject([{ amount: '5', decimals: 2, token_program: 'token2022', frozen: true }])
    expect(of(WRAPPED_SOL)).toMatchObject([{ amount: '7', symbol: 'SOL', name: 'Wrapped SOL' }])
    expect(of(closed)).toMatchObject([{ amount: '3', decimals: null, symbol: null, token_program: null }])
    const one = await ask(wallet, `?mint=${guarded}`)
    expect(one.data.tokens.map(({ mint }: { mint: string }) => mint)).toEqual([guarded])
  })

  it('are nothing for an address without an account, and an error if the text is not an address', async () => {
    const { ask } = await funded()
    const wallet = someAddress()
    expect((await ask(wallet)).data).toEqual({ wallet, lamports: '0', tokens: [], empty_accounts: 0, truncated: false })
    expect((await ask('nobody')).error.param).toBe('wallet')
    expect((await ask(wallet, '?mint=x')).error.param).toBe('mint')
    expect((await ask(wallet, '?limit=5')).status).toBe(400)
    const none = await ask(wallet, `?mint=${someAddress()}`)
    expect([none.status, none.error.param]).toEqual([404, 'mint'])
  })

  it('are cut where strangers opened many accounts, and one token can still be asked for', async () => {
    const { put, mint, ask } = await funded()
    const wallet = someAddress()
    const [dust, own] = [mint(0), mint(9)]
    for (let i = 0; i < 205; i++) put(someAddress(), TOKEN_PROGRAM, accountData(dust, wallet, 1n))
    put(someAddress(), TOKEN_PROGRAM, accountData(own, wallet, 8n))
    const { data } = await ask(wallet)
    expect(data.tokens).toHaveLength(200)
    expect(data.truncated).toBe(true)
    expect((await ask(wallet)).data).toEqual(data)
    const { data: found } = await ask(wallet, `?mint=${own}`)
    expect(found).toMatchObject({ tokens: [{ mint: own, amount: '8' }], truncated: false })
  })
})

describe('the answer of a node', () => {
  const wallet = someAddress()
  const mint = someAddress()
  const item = (data: Buffer, owner = TOKEN_PROGRAM, pubkey: unknown = someAddress()) => ({
    pubkey,
    account: { owner, data: [data.toString('base64'), 'base64'] },
  })
  const reading = (items: unknown[], result: unknown = { context: { slot: 1 }, value: [] }) =>
    readHoldings(
      {
        callLarge: async (_, onItem) => {
          for (const each of items) onItem(each)
          return result
        },
      },
      { wallet, mint },
    )

  it.each([
    ['another wallet', item(accountData(mint, someAddress(), 1n))],
    ['another mint', item(accountData(someAddress(), wallet, 1n))],
    ['another program', item(accountData(mint, wallet, 1n), someAddress())],
    ['a mint', item(mintData(6))],
    ['no data', { pubkey: someAddress(), account: { owner: TOKEN_PROGRAM } }],
    ['no address', item(accountData(mint, wallet, 1n), TOKEN_PROGRAM, 'x')],
    ['nothing', null],
  ])('that shows %s is an error, and no balance', async (_, shown) => {
    await expect(reading([shown])).rejects.toMatchObject({ code: 'internal_error' })
  })

  it('without a slot is an error', async () => {
    await expect(reading([], { value: [] })).rejects.toMatchObject({ code: 'internal_error' })
  })
})

describe('svc wallet balance', () => {
  const { svc } = commandLine()

  it('shows SOL in whole units, of the wallet in use, of a file and of an address', async () => {
    await svc(['localnet', 'wallet', 'mine.json', '2.5'])
    const address = (await svc(['wallet', 'address', './mine.json', '-o', 'plain'])).stdout.trim()
    const of = async (args: string[], env = {}) => {
      const { exitCode, stdout, stderr } = await svc(['wallet', 'balance', ...args], { env })
      expect(exitCode, stderr).toBe(0)
      return stdout
    }
    expect(await of([], { SVC_KEYPAIR: 'mine.json' })).toMatch(/SOL +2\.5 /)
    expect(await of(['mine.json'])).toMatch(/SOL +2\.5 /)
    expect(JSON.parse(await of([address, '--json']))).toMatchObject({ wallet: address, lamports: '2500000000' })
    const wrong = await svc(['wallet', 'balance', address, '--mint', 'x'])
    expect(wrong.exitCode).toBe(2)
    expect(wrong.stderr).toContain('--mint')
  })
})
