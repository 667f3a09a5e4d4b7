/** `svc tx decode` of a transaction that proposes to a Squads multisig: what the vault would execute is shown too. */
import { PublicKey, SystemProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { buildProposalCreation } from '../../src/chain/programs/squads/index.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { innerMessageOf, vaultAddress } from '../../src/solana/squads/index.ts'
import { someAddress } from '../support/wallets.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const [multisig, member, to] = [someAddress(), someAddress(), someAddress()]
const [vault, recentBlockhash] = [vaultAddress(multisig, 0), PublicKey.default.toBase58()]

/** A proposal that pays out of the vault; `change` may spoil its bytes. */
async function proposal(change: (bytes: Uint8Array) => void = () => undefined): Promise<string> {
  const [fromPubkey, toPubkey] = [new PublicKey(vault), new PublicKey(to)]
  const built = compileTransaction({
    payer: fromPubkey,
    recentBlockhash,
    instructions: [SystemProgram.transfer({ fromPubkey, toPubkey, lamports: 1_500_000_000 })],
    bytesOf: (key: PublicKey) => key.toBytes(),
  })
  const inner = innerMessageOf(decodeWireTransaction(built.transaction), { vault })
  const terms = { multisig, vaultIndex: 0, index: 1n, member, inner, ephemeralSigners: 0, approve: false }
  const { transactions } = await buildProposalCreation({ payer: member, recentBlockhash, ...terms })
  const { transaction } = transactions[0]!
  change(transaction)
  return Buffer.from(transaction).toString('base64')
}

describe('A decoded proposal', () => {
  it('shows the instructions that the vault would execute, with names, roles and amounts', async () => {
    const transaction = await proposal()
    const { instructions } = await cli.json(['tx', 'decode', transaction, '--offline'])
    expect(instructions).toMatchObject([
      {
        name: 'Squads v4',
        instruction: 'vault_transaction_create',
        args: [
          { name: 'vault_index', value: '0' },
          { name: 'ephemeral_signers', value: '0' },
          { name: 'transaction_message', value: expect.stringMatching(/^(?:[0-9a-f]{2})+$/) },
          { name: 'memo', value: 'none' },
        ],
        inner: [
          {
            name: 'System program',
            accounts: [
              { address: vault, signer: true, writable: true, role: 'source' },
              { address: to, signer: false, writable: true, role: 'destination' },
            ],
            args: [{ name: 'lamports', value: '1500000000' }],
          },
        ],
      },
      { name: 'Squads v4', instruction: 'proposal_create' },
    ])
    expect(instructions[1]).not.toHaveProperty('inner')
    const { stdout } = await cli.svc(['tx', 'decode', transaction, '--offline'])
    expect(stdout).toMatch(
      /proposes that the vault executes\ninstruction 0\.0: System program \(1{32}\)\n {2}transfer\n {4}lamports {2}1\.5 SOL\n/,
    )
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })

  it('whose message cannot be read is shown without it', async () => {
    // The first byte of the message counts its signers, of which there must be at least one.
    const transaction = await proposal((bytes) => {
      bytes[Buffer.from(bytes).indexOf(Buffer.from('30fa4ea8d0e2dad3', 'hex')) + 14] = 0
    })
    const { instructions } = await cli.json(['tx', 'decode', transaction, '--offline'])
    expect(instructions[0]).toMatchObject({ instruction: 'vault_transaction_create' })
    expect(instructions[0]).not.toHaveProperty('inner')
  })
})
