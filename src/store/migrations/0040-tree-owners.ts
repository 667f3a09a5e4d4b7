/** Adds who stored a merkle tree, and the root of the tree that a sponsorship pays for. */
import { type Kysely, type Migration, sql } from 'kysely'

export function treeOwners(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('merkle_trees').addColumn('created_by', 'text').execute()
      await db.schema
        .alterTable('sponsorships')
        .addColumn('root', 'text', (column) => column.notNull().defaultTo(''))
        .execute()
      // A tree that was replaced after its sponsorship began is younger: that sponsorship keeps no root, and has ended.
      await sql`update sponsorships set root = coalesce((
        select merkle_trees.root from merkle_trees
        where merkle_trees.id = sponsorships.airdrop_id and merkle_trees.created_at <= sponsorships.created_at
      ), '')`.execute(db)
    },
  }
}
