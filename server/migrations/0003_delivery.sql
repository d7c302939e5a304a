-- Endpoints that are told of events, the deliveries to them, and every attempt made.

create table endpoints (
  id             text primary key,
  workspace_id   text not null references workspaces on delete cascade,
  label          text not null,
  url            text not null,
  secret         text not null, -- sealed, with the id as additional data
  state          text not null, -- enabled, disabled, failing
  state_since    timestamptz(3) not null,
  all_teams      boolean not null,
  team_ids       text[] not null,
  resource_types text[] not null,
  created_by     text references users on delete set null,
  created_at     timestamptz(3) not null,
  updated_at     timestamptz(3) not null,
  deleted_at     timestamptz(3),
  -- Not later than the first moment at which a worker would find something to send; null when nothing waits.
  next_due_at    timestamptz(3),
  -- Counts claims and rings, so that a claim can tell whether what it sees of the deliveries is up to date.
  turn           bigint not null default 0,
  -- It let an attempt time out and has not answered since.
  struggling     boolean not null default false
) with (fillfactor = 70);
create index endpoints_workspace on endpoints (workspace_id, id desc) where deleted_at is null;
create index endpoints_due on endpoints (next_due_at) where next_due_at is not null and deleted_at is null;
create index endpoints_deleted on endpoints (deleted_at) where deleted_at is not null;

-- The id of a delivery follows from its event and its endpoint, so one event can never be delivered twice to one
-- endpoint under two ids. It has the form of a UUIDv7 like all ids: the milliseconds of the event, version and
-- variant in their places, and 56 bits of hash for the random part.
create function delivery_id(event_id text, endpoint_id text) returns text language sql immutable parallel safe as $$
  select 'dlv_' || substr(event_id, 5, 10) || 'e' || substr(hash, 1, 2) || '8' || substr(hash, 3, 12)
  from (select md5(event_id || endpoint_id) as hash) h
$$;

-- A delivery is the queue's own row. Claimed: a worker is sending it, until lease_until at the latest.
-- No foreign keys: each new delivery would share-lock its endpoint's row, and with such a lock on a row PostgreSQL lets
-- two statements that lock and then update it wait for each other. An endpoint outlives its deliveries (retention.ts).
create table deliveries (
  id           text not null,
  workspace_id text not null,
  endpoint_id  text not null,
  event_id     text not null,
  type         text not null,
  action       text not null,
  status       text not null, -- pending, succeeded, failed, canceled
  attempts     int not null,  -- made so far
  scheduled    int not null,  -- of these, made by the schedule and not asked for by a person
  is_retry     boolean not null generated always as (scheduled > 0) stored, -- the index below needs it as a column
  next_at      timestamptz(3),
  redeliver_at timestamptz(3),
  claim_id     text,
  claim_kind   text,          -- scheduled, redelivery
  lease_until  timestamptz(3),
  created_at   timestamptz(3) not null,
  settled_at   timestamptz(3),
  primary key (endpoint_id, id) -- in this order it serves the lists too: an index less to write with every change
) with (fillfactor = 70);
create index deliveries_listed_by_status on deliveries (endpoint_id, status, id desc) where status in ('failed', 'canceled');
create index deliveries_due on deliveries (endpoint_id, is_retry, next_at)
  where status = 'pending' and claim_id is null;
create index deliveries_asked_for on deliveries (endpoint_id, redeliver_at)
  where redeliver_at is not null and claim_id is null;
create index deliveries_claimed on deliveries (endpoint_id) where claim_id is not null;
-- What the auto-disable rule counts.
create index deliveries_health on deliveries (endpoint_id, status, settled_at)
  where status in ('succeeded', 'failed') and type <> 'Ping';

create table attempts (
  delivery_id      text not null,
  number           int not null,
  workspace_id     text not null,
  started_at       timestamptz(3) not null,
  duration_ms      int not null,
  http_status      int,
  reason           text,
  response_excerpt text,
  signature        text not null,
  primary key (delivery_id, number)
);

create index events_age on events (created_at, id);

alter table inbox_entries add column endpoint_id text references endpoints on delete cascade;
create index inbox_entries_endpoint on inbox_entries (endpoint_id) where endpoint_id is not null;
