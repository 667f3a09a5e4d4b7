/** The first bytes in a program's table are those that its framework makes from the names. */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { JUPITER_LOCK } from '../src/solana/programs/jupiter-lock.ts'
import { MERKLE_DISTRIBUTOR } from '../src/solana/programs/merkle-distributor.ts'

const prefixOf = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 16)

it('first bytes of Anchor instructions are the hash of their names', () => {
  for (const { layout } of [JUPITER_LOCK, MERKLE_DISTRIBUTOR]) {
    for (const [prefix, [name]] of Object.entries(layout.table)) expect(prefix, name).toBe(prefixOf(`global:${name}`))
  }
})
