# Creates, gets, updates and lists customers with the generated library in a folder.
require 'json'
require 'uri'

$LOAD_PATH.unshift(File.join(ARGV[0], 'lib'))
require 'proposal_api'
include ProposalApi

ProposalApi.configure do |config|
  url = URI(ENV.fetch('API_URL'))
  config.scheme = url.scheme
  config.host = "#{url.host}:#{url.port}"
  config.api_key['Authorization'] = ENV.fetch('API_KEY')
  config.api_key_prefix['Authorization'] = 'Bearer'
end

# The code in the body of a rejected request.
def code
  yield && nil
rescue ApiError => error
  JSON.parse(error.response_body)['code']
end

def names(*lists) = lists.flat_map { |list| list.data.map(&:name) }

api = CustomersApi.new
made = api.create_customer(CustomerCreate.new(name: 'Ana', tags: ['vip'], address: AddressInput.new(city: 'Lisboa')))
got = api.get_customer(made.id)
updated = api.update_customer(got.id, CustomerUpdate.new(notes: 'Met at the fair.'))
found = api.list_customers(tag: 'vip', created_since: made.created_at)
first = api.list_customers(limit: 1, sort: '-createdAt')
second = api.list_customers(limit: 1, cursor: first.pagination.next_cursor)
puts JSON.generate(
  id: updated.id,
  city: updated.address.city,
  found: names(found),
  names: names(first, second),
  missing: code { api.get_customer('cus_00000000000000000000000000') },
  refused: code { api.create_customer(CustomerCreate.new(email: 'nobody')) },
)
