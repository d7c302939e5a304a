-- How endpoints have done, what deliveries are found by, and how far an app has come.

-- What came of the attempts of each endpoint, by the day (UTC) they began on. Written with them, so that reading it
-- takes as long for a busy endpoint as for a quiet one. Test pings are left out, as from the auto-disable rule; of what
-- a listener answered only first_success_at speaks. Days go after 30, but for the first with a success.
create table endpoint_days (
  endpoint_id      text not null, -- not a reference: that would lock the endpoint's row (0003)
  workspace_id     text not null,
  day              date not null,
  succeeded        int not null,
  failed           int not null,
  first_success_at timestamptz(3),
  last_success_at  timestamptz(3),
  last_failure     json, -- as it is shown
  primary key (endpoint_id, day)
) with (fillfactor = 50);

insert into endpoint_days
select d.endpoint_id, d.workspace_id, (a.started_at at time zone 'UTC')::date,
  count(*) filter (where a.reason is null and not d.relayed),
  count(*) filter (where a.reason is not null and not d.relayed),
  min(a.started_at) filter (where a.reason is null),
  max(a.started_at) filter (where a.reason is null and not d.relayed),
  (array_agg(json_build_object(
    'at', to_char(a.started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'reason', a.reason,
    'http_status', a.http_status, 'delivery_id', a.delivery_id
  ) order by a.started_at desc) filter (where a.reason is not null and not d.relayed))[1]
from deliveries d join attempts a on a.delivery_id = d.id
where d.type <> 'Ping'
group by 1, 2, 3;

-- The list by type. What is pending is found as the claim finds it, so that only an outcome writes here.
create index deliveries_listed_by_type on deliveries (endpoint_id, type, id desc) where status <> 'pending';

-- The list by session.
alter table events add column agent_session_id text;
update events set agent_session_id = body -> 'data' -> 'agent_session' ->> 'id' where type = 'AgentSessionEvent';
create index events_session on events (agent_session_id) where agent_session_id is not null;

-- Where an app's first thought is looked for.
create index agent_sessions_answered on agent_sessions (agent_id, id) where answered_at is not null;
create index installations_app on installations (app_id);
