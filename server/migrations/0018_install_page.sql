-- Where a manager installs the app, if not from its page in the web app.

alter table agent_apps add column install_page_url text;

-- When the first tokens of the grant were issued; null if never. In grants of the version before it is set at their next
-- refresh.

alter table grants add column tokens_issued_at timestamptz(3);
update grants g set tokens_issued_at = created_at
where ended_at is null and installation_id is not null
  and exists (select from access_tokens t where t.grant_id = g.id);
