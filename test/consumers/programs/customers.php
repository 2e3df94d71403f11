<?php
/** Creates, gets, updates and lists customers with the generated library in a folder. */

namespace GuzzleHttp\Psr7 {
    // The library was generated for Guzzle 6; in Debian's, this function is a method.
    function build_query(array $parameters): string
    {
        return Query::build($parameters);
    }
}

namespace {
    use ProposalApi\Api\CustomersApi;
    use ProposalApi\ApiException;
    use ProposalApi\Configuration;
    use ProposalApi\Model\{AddressInput, CustomerCreate, CustomerUpdate};

    error_reporting(E_ALL & ~E_DEPRECATED);
    require '/usr/share/php/GuzzleHttp/autoload.php';
    spl_autoload_register(function (string $class) use ($argv): void {
        $file = "$argv[1]/lib/" . strtr(substr($class, strlen('ProposalApi\\')), '\\', '/') . '.php';
        if (str_starts_with($class, 'ProposalApi\\')) require $file;
    });

    /** The code in the body of a rejected request. */
    function code(callable $call): ?string
    {
        try {
            $call();
            return null;
        } catch (ApiException $error) {
            return json_decode($error->getResponseBody())->code;
        }
    }

    function names(...$lists): array
    {
        $customers = array_merge(...array_map(fn($list) => $list->getData(), $lists));
        return array_map(fn($customer) => $customer->getName(), $customers);
    }

    $configuration = (new Configuration())->setHost(getenv('API_URL'));
    $configuration->setApiKey('Authorization', getenv('API_KEY'))->setApiKeyPrefix('Authorization', 'Bearer');
    $api = new CustomersApi(new GuzzleHttp\Client(), $configuration);
    $address = new AddressInput(['city' => 'Lisboa']);
    $made = $api->createCustomer(new CustomerCreate(['name' => 'Ana', 'tags' => ['vip'], 'address' => $address]));
    $got = $api->getCustomer($made->getId());
    $updated = $api->updateCustomer($got->getId(), new CustomerUpdate(['notes' => 'Met at the fair.']));
    $found = $api->listCustomers(tag: 'vip');
    $first = $api->listCustomers(limit: 1, sort: '-createdAt');
    $second = $api->listCustomers(limit: 1, cursor: $first->getPagination()->getNextCursor());
    echo json_encode([
        'id' => $updated->getId(),
        'city' => $updated->getAddress()->getCity(),
        'found' => names($found),
        'names' => names($first, $second),
        'missing' => code(fn() => $api->getCustomer('cus_00000000000000000000000000')),
        'refused' => code(fn() => $api->createCustomer(new CustomerCreate(['email' => 'nobody']))),
    ]);
}
