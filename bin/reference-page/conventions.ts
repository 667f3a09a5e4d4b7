/** What holds for every operation, at the head of the reference page. */
import { html } from 'hono/html'

const request = `curl http://127.0.0.1:8787/v2/pools \\
  -H "Authorization: Bearer $SVC_API_KEY"`

export const conventions = html`<section class="entry guide" id="keys" data-kind="guide" data-title="Keys and scopes">
<h2><a href="#keys">Keys and scopes</a></h2>
<p>A request names its key in <code>Authorization: Bearer</code>. <code>svc keys create</code> makes one, or <a href="#postApiKeys"><code>POST /v2/api-keys</code></a>; it is shown once. Any key reads and builds unsigned transactions; what the platform wallet signs and pays needs the scope that the operation names. Each answer tells in <code>RateLimit</code> what is left of the key's limits.</p>
<pre tabindex="0" aria-label="Request">${request}</pre>
</section>
<section class="entry guide" id="answers" data-kind="guide" data-title="Answers">
<h2><a href="#answers">Answers</a></h2>
<p>Success is <code>{ data, meta }</code>, failure <code>{ error, meta }</code>. <code>meta.request_id</code> is the <code>X-Request-Id</code> that you sent, or one that the service made: name it when you ask for help. Amounts are digit strings in raw units. An unknown field of a body is refused by its name.</p>
</section>
<section class="entry guide" id="transactions" data-kind="guide" data-title="Transactions: unsigned, signed, dry run">
<h2><a href="#transactions">Transactions</a></h2>
<p>With <code>mode: unsigned</code> a request builds a transaction that your wallet signs; <a href="#postTransactions"><code>POST /v2/transactions</code></a> submits it, with the <code>tracked_resource</code> of the build, and follows it to its end. With <code>mode: signed</code> the platform wallet signs and submits, within its policy. <code>dry_run: true</code> checks and builds as usual, and leaves nothing behind.</p>
</section>
<section class="entry guide" id="idempotency" data-kind="guide" data-title="Idempotency-Key">
<h2><a href="#idempotency">Idempotency</a></h2>
<p>Send an <code>Idempotency-Key</code> (1–255 characters) on any write, and send the same request again where no answer came: within 24 hours it answers what was stored, with <code>Idempotent-Replayed: true</code>, and nothing is signed twice. The same key with another request is <a href="#error-conflict"><code>conflict</code></a>.</p>
</section>
<section class="entry guide" id="pages" data-kind="guide" data-title="Pages of a list, cursor">
<h2><a href="#pages">Pages of a list</a></h2>
<p>A list answers up to <code>limit</code> records, newest first. While <code>meta.has_more</code> is true, <code>meta.next_cursor</code> is the <code>cursor</code> of the next page.</p>
</section>
`
