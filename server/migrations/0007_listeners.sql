-- People who receive the deliveries of an agent app in place of its URL, and what is on its way to them.

-- The newest one of each endpoint. It counts until lease_until, which its connection puts off as long as it is open.
create table listeners (
  endpoint_id   text primary key, -- not a reference: that would lock the endpoint's row (0003)
  workspace_id  text not null references workspaces on delete cascade,
  app_id        text not null references agent_apps on delete cascade,
  connection_id text not null unique,
  user_id       text not null references users on delete cascade,
  since         timestamptz(3) not null,
  lease_until   timestamptz(3) not null
);

-- One attempt each, from the worker that makes it to the connection and back. Whose row is gone is over. Worth nothing
-- after a crash of the database, when nobody waits for it.
create unlogged table relayed_attempts (
  id            text primary key,
  connection_id text not null,
  endpoint_id   text not null,
  user_id       text not null, -- who listens, and alone may answer
  delivery_id   text not null,
  url           text not null,
  headers       json not null,
  body          bytea not null,
  deadline      timestamptz(3) not null,
  sent_at       timestamptz(3),
  status        int, -- the answer
  response      text
);

-- Its outcome came from a listener.
alter table deliveries add column relayed boolean not null default false;

-- What the auto-disable rule counts.
drop index deliveries_health;
create index deliveries_health on deliveries (endpoint_id, status, settled_at)
  where status in ('succeeded', 'failed') and type <> 'Ping' and not relayed;
